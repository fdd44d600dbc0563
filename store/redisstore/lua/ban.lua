-- lua/ban.lua takes a player out of every season that is kept, and keeps the packed scores for an unban.
--
-- KEYS[1]  board  hash: rev, version, season
-- KEYS[2]  bans   hash: banned player -> why
-- KEYS[3…] scores and banned of the running season, then of each closed one
--
-- ARGV[1]  rev                    ARGV[4]  channel
-- ARGV[2]  time in ms, or ''      ARGV[5]  live top
-- ARGV[3]  end in ms, or ''       ARGV[6]  player
-- ARGV[7]  why
--
-- Returns {'moved'}, {'over'}, or {'ok', total, version}.
local board, bans, scores = KEYS[1], KEYS[2], KEYS[3]
local rev, ends, channel, liveTop, player = ARGV[1], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]

local why = stale(board, rev, ends, clock(ARGV[2]))
if why then return {why} end
local was = redis.call('HMGET', board, 'version', 'season')
if redis.call('HSETNX', bans, player, ARGV[7]) == 0 then return {'ok', redis.call('ZCARD', scores), was[1]} end

local place = redis.call('ZREVRANK', scores, player)
for i = 3, #KEYS, 2 do
  local packed = redis.call('ZSCORE', KEYS[i], player)
  if packed then
    redis.call('ZADD', KEYS[i + 1], packed, player)
    redis.call('ZREM', KEYS[i], player)
  end
end
local total = redis.call('ZCARD', scores)
local version = was[1]
if place and place < liveTop then version = redis.call('HINCRBY', board, 'version', 1) end
if place then publish(channel, version, was[2], total, rev) end
return {'ok', total, version}
