-- lua/lookup.lua reads the places of some players.
--
-- KEYS[1]  board   hash: rev
-- KEYS[2]  names   hash: player -> name
-- KEYS[3]  scores  sorted set of the season: player -> packed score
--
-- ARGV[1]  rev                    ARGV[3]  end in ms, or ''
-- ARGV[2]  time in ms, or ''      ARGV[4]  2^T, or '' for ordinal ranks
-- ARGV[5…] players, 1 to 1 000
--
-- Returns {'moved'}, {'over'}, or {'ok', time, {rank or false, packed or false, …}, {name or false, …}}, in the order
-- asked.
local board, names, scores = KEYS[1], KEYS[2], KEYS[3]
local rev, ends, span = ARGV[1], ARGV[3], tonumber(ARGV[4])

local now = clock(ARGV[2])
local why = stale(board, rev, ends, now)
if why then return {why} end

local places = {}
for i = 5, #ARGV do
  local packed = redis.call('ZSCORE', scores, ARGV[i])
  local rank = false
  if packed then
    rank = span and sharedRank(scores, tonumber(packed), span) or redis.call('ZREVRANK', scores, ARGV[i]) + 1
  end
  places[#places + 1] = rank
  places[#places + 1] = packed
end
return {'ok', whole(now), places, redis.call('HMGET', names, unpack(ARGV, 5))}
