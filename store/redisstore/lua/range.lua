-- lua/range.lua reads the entries between two packed scores, and how many there are.
--
-- KEYS[1]  board   hash: rev, version, epoch
-- KEYS[2]  names   hash: player -> name
-- KEYS[3]  scores  sorted set of the season: player -> packed score
--
-- ARGV[1]  rev                    ARGV[5]  lowest packed score
-- ARGV[2]  time in ms, or ''      ARGV[6]  highest packed score
-- ARGV[3]  end in ms, or ''       ARGV[7]  most rows
-- ARGV[4]  2^T, or '' for ordinal ranks
--
-- Returns {'moved'}, {'over'}, or {'ok', time, version, epoch, total, page, count}; a page as in view.lua.
local board, names, scores = KEYS[1], KEYS[2], KEYS[3]
local rev, ends, span, low, high, rows = ARGV[1], ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6], ARGV[7]

local now = clock(ARGV[2])
local why = stale(board, rev, ends, now)
if why then return {why} end

local first = redis.call('ZCOUNT', scores, '(' .. high, '+inf')
local found = redis.call('ZREVRANGEBYSCORE', scores, high, low, 'WITHSCORES', 'LIMIT', 0, rows)
local shared = 0
if span and #found > 0 then shared = sharedRank(scores, tonumber(found[2]), span) end
local version = redis.call('HMGET', board, 'version', 'epoch')
return {'ok', whole(now), version[1], version[2], redis.call('ZCARD', scores),
  {first + 1, shared, found, namesOf(names, found)}, redis.call('ZCOUNT', scores, low, high)}
