-- lua/payout_begin.lua marks a closed season as being paid, and fixes for each reward between which places of the order
-- its winners stand: bans and erasures after it move nobody. From then on the season is not reopened.
--
-- KEYS[1]  board    hash
-- KEYS[2]  seasons  hash: number -> record
-- KEYS[3]  scores   sorted set of the season
-- KEYS[4]  payouts  hash: reward -> how far its payout came, JSON
-- KEYS[5]  holds    hash: player -> what they hold
--
-- ARGV[1]  number of the season        ARGV[3]  its record when it is being paid
-- ARGV[2]  its record as the caller knows it
-- ARGV[4]  players, from whom the caller counted the places
-- ARGV[5]  what stands for the rewards that are held
-- ARGV[6…] three for each reward: id, places before the winners, places up to the last winner
--
-- Returns {'moved'} when the record or the number of players is another, or {'ok'}.
local board, seasons, scores, payouts, holds = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local number, known, paying, total, held = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]

if redis.call('EXISTS', board) == 0 then return {'moved'} end
if redis.call('HGET', seasons, number) ~= known then return {'moved'} end
if redis.call('ZCARD', scores) ~= total then return {'moved'} end

-- The position behind so many players. The last one is named only where the next has the same packed score.
local function position(places)
  if places <= 0 then return {packed = '+inf', player = ''} end
  if places >= total then return {packed = '-inf', player = ''} end
  local rows = redis.call('ZREVRANGE', scores, places - 1, places, 'WITHSCORES')
  return {packed = whole(tonumber(rows[2])), player = rows[2] == rows[4] and rows[1] or ''}
end

redis.call('HSET', seasons, number, paying)
for i = 6, #ARGV, 3 do
  redis.call('HSET', payouts, ARGV[i], cjson.encode({
    at = position(tonumber(ARGV[i + 1])), to = position(tonumber(ARGV[i + 2])), count = 0,
  }))
end
if redis.call('EXISTS', holds) == 1 then redis.call('HSET', payouts, held, '{}') end
return {'ok'}
