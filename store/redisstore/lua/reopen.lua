-- lua/reopen.lua makes the last closed season run again, while nobody has a score or a kept one in the new season.
--
-- KEYS[1]  board    hash: rev, version, season
-- KEYS[2]  seasons  hash: number -> record
-- KEYS[3]  scores   sorted set of the closed season
-- KEYS[4]  scores   sorted set of the new season
-- KEYS[5]  banned   sorted set of the new season
--
-- ARGV[1]  rev                             ARGV[5]  number of the closed season
-- ARGV[2]  time in ms, or ''               ARGV[6]  number of the new season
-- ARGV[3]  end of the new season, or ''    ARGV[7]  record of the closed season as the caller knows it
-- ARGV[4]  channel                         ARGV[8]  its record when it runs again
--
-- Returns {'moved'}, {'over'}, {'refused'}, or {'ok', version, total}.
local board, seasons, scores, newScores, newBanned = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local rev, ends, channel, number, newNumber, known, record =
  ARGV[1], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]

local why = stale(board, rev, ends, clock(ARGV[2]))
if why then return {why} end
if redis.call('ZCARD', newScores) > 0 or redis.call('ZCARD', newBanned) > 0 then return {'refused'} end
-- A payout that began meanwhile has marked the record.
if redis.call('HGET', seasons, number) ~= known then return {'refused'} end

redis.call('HSET', seasons, number, record)
redis.call('HDEL', seasons, newNumber)
redis.call('HSET', board, 'season', number)
local total = redis.call('ZCARD', scores)
local version = redis.call('HINCRBY', board, 'version', 1)
publish(channel, version, number, total, redis.call('HINCRBY', board, 'rev', 1))
return {'ok', version, total}
