-- lua/inbox_claim.lua claims a prize. Claiming it again changes nothing and gets the same answer. Of the claimed, those
-- claimed first make room.
--
-- KEYS[1]  inbox    sorted set: number -> number
-- KEYS[2]  prizes   hash: number -> time, space, prize
-- KEYS[3]  claimed  sorted set: number -> time of the claim
--
-- ARGV[1]  time in ms, or ''    ARGV[4]  channel
-- ARGV[2]  number               ARGV[5]  player
-- ARGV[3]  most claimed prizes
--
-- Returns {'absent'}, or {'ok', time and prize, time of the claim}.
local inbox, prizes, claimed = KEYS[1], KEYS[2], KEYS[3]
local now, number, most, channel, player = clock(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]

local prize = redis.call('ZSCORE', inbox, number) and redis.call('HGET', prizes, number)
if not prize then return {'absent'} end
local before = redis.call('ZSCORE', claimed, number)
if before then return {'ok', prize, whole(tonumber(before))} end

redis.call('ZADD', claimed, whole(now), number)
local over = redis.call('ZCARD', claimed) - most
if over > 0 then
  local old = redis.call('ZRANGE', claimed, 0, math.min(over, 128) - 1)
  redis.call('ZREM', claimed, unpack(old))
  redis.call('ZREM', inbox, unpack(old))
  redis.call('HDEL', prizes, unpack(old))
end
redis.call('PUBLISH', channel, 'claimed ' .. number .. ' ' .. player)
return {'ok', prize, whole(now)}
