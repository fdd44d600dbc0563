-- lua/close.lua ends the running season and begins the next in the same instant. The first of several callers does it;
-- the others are told that the board moved.
--
-- KEYS[1]  board    hash: rev, version, season
-- KEYS[2]  seasons  hash: number -> record
-- KEYS[3]  scores   sorted set of the running season
--
-- ARGV[1]  rev                              ARGV[6]  start of the next season in ms, or '' for now
-- ARGV[2]  time in ms, or ''                ARGV[7]  record of the closed season, JSON, after its end and total
-- ARGV[3]  channel                          ARGV[8]  record of the next season, JSON, after its start
-- ARGV[4]  number of the running season     ARGV[9]  end of the next season in ms, or ''
-- ARGV[5]  its end in ms, or '' for now     ARGV[10] start of the running season in ms
--
-- Returns {'moved'}, {'early'} before the end that was given, {'late'} when the next season would be over already, or
-- {'ok', time, end}.
local board, seasons, scores = KEYS[1], KEYS[2], KEYS[3]
local rev, channel, season = ARGV[1], ARGV[3], ARGV[4]
local ends, starts, closed, following, nextEnd = ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]

local now = clock(ARGV[2])
local why = stale(board, rev, '', now)
if why then return {why} end
if ends ~= '' and now < tonumber(ends) then return {'early'} end
if nextEnd ~= '' and now >= tonumber(nextEnd) then return {'late'} end
-- Where the clock was set back, a season ends at its start rather than before.
if ends == '' then ends = whole(math.max(now, tonumber(ARGV[10]))) end
if starts == '' then starts = ends end

local nextNumber = tonumber(season) + 1
redis.call('HSET', seasons, season,
  '{"end":' .. ends .. ',"total":' .. redis.call('ZCARD', scores) .. ',' .. closed)
redis.call('HSET', seasons, nextNumber, '{"start":' .. starts .. ',' .. following)
redis.call('HSET', board, 'season', nextNumber)
publish(channel, redis.call('HINCRBY', board, 'version', 1), nextNumber, 0, redis.call('HINCRBY', board, 'rev', 1))
return {'ok', whole(now), ends}
