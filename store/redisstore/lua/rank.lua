-- lua/rank.lua counts who stands before a packed score.
--
-- KEYS[1]  board   hash: rev
-- KEYS[2]  scores  sorted set of the season: player -> packed score
--
-- ARGV[1]  rev                    ARGV[3]  end in ms, or ''
-- ARGV[2]  time in ms, or ''      ARGV[4]  packed score; those at or above it stand before
--
-- Returns {'moved'}, {'over'}, or {'ok', count, total}.
local board, scores = KEYS[1], KEYS[2]
local rev, ends, packed = ARGV[1], ARGV[3], ARGV[4]

local why = stale(board, rev, ends, clock(ARGV[2]))
if why then return {why} end
return {'ok', redis.call('ZCOUNT', scores, packed, '+inf'), redis.call('ZCARD', scores)}
