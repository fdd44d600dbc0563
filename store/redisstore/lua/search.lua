-- lua/search.lua reads players of the running season whose folded name begins with a text. It looks at 1 000 names at
-- most, so that a name that half the world bears costs no more than another.
--
-- KEYS[1]  board       hash: rev, version, epoch
-- KEYS[2]  names       hash: player -> name
-- KEYS[3]  scores      sorted set of the season: player -> packed score
-- KEYS[4]  name-index  sorted set of folded name, NUL, player
--
-- ARGV[1]  rev                    ARGV[4]  2^T, or '' for ordinal ranks
-- ARGV[2]  time in ms, or ''      ARGV[5]  folded text
-- ARGV[3]  end in ms, or ''       ARGV[6]  most rows
--
-- Returns {'moved'}, {'over'}, or {'ok', time, version, epoch, total, {player, rank, packed, name, …}}.
local board, names, scores, nameIndex = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local rev, ends, span, text, rows = ARGV[1], ARGV[3], tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6])

local now = clock(ARGV[2])
local why = stale(board, rev, ends, now)
if why then return {why} end

local found = {}
for _, member in ipairs(redis.call('ZRANGEBYLEX', nameIndex, '[' .. text, '(' .. text .. '\255', 'LIMIT', 0, 1000)) do
  local player = string.sub(member, string.find(member, '\0', 1, true) + 1)
  local packed = redis.call('ZSCORE', scores, player)
  if packed then
    local rank = span and sharedRank(scores, tonumber(packed), span) or redis.call('ZREVRANK', scores, player) + 1
    found[#found + 1] = player
    found[#found + 1] = rank
    found[#found + 1] = packed
    found[#found + 1] = redis.call('HGET', names, player)
    if #found == 4 * rows then break end
  end
end
local version = redis.call('HMGET', board, 'version', 'epoch')
return {'ok', whole(now), version[1], version[2], redis.call('ZCARD', scores), found}
