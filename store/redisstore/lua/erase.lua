-- lua/erase.lua takes every trace of a person off a board: scores of some seasons, ban, name and activity. It may run
-- again; each run takes what is there.
--
-- KEYS[1]  board       hash: rev, version, season
-- KEYS[2]  bans        hash: banned player -> why
-- KEYS[3]  names       hash: player -> name
-- KEYS[4]  name-index  sorted set of folded name, NUL, player
-- KEYS[5]  activity    list of the player
-- KEYS[6]  rate        submissions of the player
-- KEYS[7]  scores      sorted set of the running season
-- KEYS[8]  banned      sorted set of the running season
-- KEYS[9]  reached     hash: player -> rewards that they have
-- KEYS[10] holds       hash: player -> rewards that they hold
-- KEYS[11…] the same four of each closed season
--
-- ARGV[1]  rev                    ARGV[4]  channel
-- ARGV[2]  time in ms, or ''      ARGV[5]  live top
-- ARGV[3]  end in ms, or ''       ARGV[6]  player
-- ARGV[7]  the player's name as the caller knows it, folded
--
-- Returns {'moved'}, {'over'}, or {'ok', total, version}.
local board, bans, names, nameIndex, activity, rate, scores =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local rev, ends, channel, liveTop, player, folded =
  ARGV[1], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6], ARGV[7]

local why = stale(board, rev, ends, clock(ARGV[2]))
if why then return {why} end
local place = redis.call('ZREVRANK', scores, player)
for i = 7, #KEYS, 4 do
  redis.call('ZREM', KEYS[i], player)
  redis.call('ZREM', KEYS[i + 1], player)
  redis.call('HDEL', KEYS[i + 2], player)
  redis.call('HDEL', KEYS[i + 3], player)
end
redis.call('HDEL', bans, player)
redis.call('HDEL', names, player)
redis.call('ZREM', nameIndex, folded .. '\0' .. player)
redis.call('UNLINK', activity, rate)

local was = redis.call('HMGET', board, 'version', 'season')
local total = redis.call('ZCARD', scores)
local version = was[1]
if place and place < liveTop then version = redis.call('HINCRBY', board, 'version', 1) end
if place then publish(channel, version, was[2], total, rev) end
return {'ok', total, version}
