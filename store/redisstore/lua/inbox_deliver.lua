-- lua/inbox_deliver.lua puts a prize into a player's inbox, with the mark of the job that brings it. A job that comes
-- again finds its mark and does nothing.
--
-- KEYS[1]  inbox    sorted set: number -> number
-- KEYS[2]  prizes   hash: number -> time, space, prize; last: the highest number given
-- KEYS[3]  effects  sorted set: job -> when its mark may go
--
-- ARGV[1]  time in ms, or ''    ARGV[4]  channel
-- ARGV[2]  job                  ARGV[5]  player
-- ARGV[3]  ms to keep the mark  ARGV[6]  prize
--
-- Returns {'ok', number}, or {'again'}.
local inbox, prizes, effects = KEYS[1], KEYS[2], KEYS[3]
local now, job, keep, channel, player, prize = clock(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6]

if redis.call('ZSCORE', effects, job) then return {'again'} end
local number = redis.call('HINCRBY', prizes, 'last', 1)
redis.call('ZADD', effects, whole(now + keep), job)
redis.call('HSET', prizes, number, whole(now) .. ' ' .. prize)
redis.call('ZADD', inbox, number, number)
local old = redis.call('ZRANGEBYSCORE', effects, '-inf', whole(now), 'LIMIT', 0, 128)
if #old > 0 then redis.call('ZREM', effects, unpack(old)) end
redis.call('PEXPIRE', effects, whole(tonumber(redis.call('ZRANGE', effects, -1, -1, 'WITHSCORES')[2]) - now))
redis.call('PUBLISH', channel, 'reward ' .. number .. ' ' .. player)
return {'ok', number}
