-- lua/close.lua ends the running season and begins the next in the same instant. The first of several callers does it;
-- the others are told that the board moved.
--
-- KEYS[1]  board    hash: rev, version, season
-- KEYS[2]  seasons  hash: number -> record
-- KEYS[3]  scores   sorted set of the running season
-- KEYS[4]  holds    hash: player -> rewards that they hold
-- KEYS[5]  owed     hash
--
-- ARGV[1]  rev                              ARGV[6]  start of the next season in ms, or '' for now
-- ARGV[2]  time in ms, or ''                ARGV[7]  record of the closed season, JSON, after its end and total
-- ARGV[3]  channel                          ARGV[8]  record of the next season, JSON, after its start
-- ARGV[4]  number of the running season     ARGV[9]  end of the next season in ms, or ''
-- ARGV[5]  its end in ms, or '' for now     ARGV[10] start of the running season in ms
-- ARGV[11] channel of the relays            ARGV[12] board and incarnation
-- ARGV[13] payload of the event that tells of the close, JSON without its end, or ''      ARGV[14] its id
-- ARGV[15] payload of the payout of what is held, JSON, or '' without any rewards         ARGV[16] its id
-- ARGV[17…] for each reward that is won by final place or share: id of its payout, ms until it is due, priority, payload
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
local total = redis.call('ZCARD', scores)
local held = ARGV[15] ~= '' and redis.call('EXISTS', KEYS[4]) == 1
local paid = ARGV[15] ~= '' and not held and #ARGV < 17 and '"paid":true,' or ''
redis.call('HSET', seasons, season, '{"end":' .. ends .. ',"total":' .. total .. ',' .. paid .. closed)
redis.call('HSET', seasons, nextNumber, '{"start":' .. starts .. ',' .. following)
redis.call('HSET', board, 'season', nextNumber)
publish(channel, redis.call('HINCRBY', board, 'version', 1), nextNumber, 0, redis.call('HINCRBY', board, 'rev', 1))

local owed = KEYS[5]
if ARGV[13] ~= '' then
  owe(owed, ARGV[14], 'season_closed', now, 0, ARGV[13] .. ',"at":' .. ends .. ',"total":' .. total .. '}', '')
end
if held then owe(owed, ARGV[16], 'payout', tonumber(ends), 0, ARGV[15], '') end
for i = 17, #ARGV, 4 do
  owe(owed, ARGV[i], 'payout', tonumber(ends) + tonumber(ARGV[i + 1]), ARGV[i + 2], ARGV[i + 3], '')
end
if held or ARGV[13] ~= '' or #ARGV >= 17 then wakeRelays(ARGV[11], ARGV[12]) end
return {'ok', whole(now), ends}
