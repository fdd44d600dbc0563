-- lua/remove.lua takes a player off the running season, with name and activity. A ban stays.
--
-- KEYS[1]  board       hash: rev, version, season
-- KEYS[2]  scores      sorted set of the running season
-- KEYS[3]  banned      sorted set of the running season
-- KEYS[4]  names       hash: player -> name
-- KEYS[5]  activity    list of the player
--
-- ARGV[1]  rev                    ARGV[4]  channel
-- ARGV[2]  time in ms, or ''      ARGV[5]  live top
-- ARGV[3]  end in ms, or ''       ARGV[6]  player
--
-- Returns {'moved'}, {'over'}, or {'ok', how many of score, kept score, name and activity there were, name or false,
-- version, total}.
local board, scores, banned, names, activity = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local rev, ends, channel, liveTop, player = ARGV[1], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]

local why = stale(board, rev, ends, clock(ARGV[2]))
if why then return {why} end
local name = redis.call('HGET', names, player)
local place = redis.call('ZREVRANK', scores, player)
local removed = redis.call('ZREM', scores, player) + redis.call('ZREM', banned, player)
  + redis.call('HDEL', names, player) + redis.call('UNLINK', activity)

local was = redis.call('HMGET', board, 'version', 'season')
local total = redis.call('ZCARD', scores)
local version = was[1]
if place and place < liveTop then version = redis.call('HINCRBY', board, 'version', 1) end
if place then publish(channel, version, was[2], total, rev) end
return {'ok', removed, name, version, total}
