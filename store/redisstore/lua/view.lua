-- lua/view.lua reads a page of a season, one player's standing and the rows around, all from one look.
--
-- KEYS[1]  board   hash: rev, version, epoch
-- KEYS[2]  names   hash: player -> name
-- KEYS[3]  scores  sorted set of the season: player -> packed score
--
-- ARGV[1]  rev                    ARGV[6]  rows of the page, or 0
-- ARGV[2]  time in ms, or ''      ARGV[7]  packed score of the row to go on behind, or ''
-- ARGV[3]  end in ms, or ''       ARGV[8]  player of that row
-- ARGV[4]  2^T, or '' for ordinal ranks    ARGV[9]  player whose standing to read, or ''
-- ARGV[5]  rows to skip           ARGV[10] rows on each side of the player, or -1 for none
--
-- Returns {'moved'}, {'over'}, or {'ok', time, version, epoch, total, page, standing, around}. A page is {rank of the
-- first, shared rank of the first or 0, {player, packed, …}, {name, …}}; standing is {} or {rank, packed, name, packed
-- of the place above}, where a missing one is false.
local board, names, scores = KEYS[1], KEYS[2], KEYS[3]
local rev, ends, span = ARGV[1], ARGV[3], tonumber(ARGV[4])
local skip, rows, afterPacked, afterPlayer = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7], ARGV[8]
local player, radius = ARGV[9], tonumber(ARGV[10])

local now = clock(ARGV[2])
local why = stale(board, rev, ends, now)
if why then return {why} end
local total = redis.call('ZCARD', scores)

local function page(first, length)
  if length == 0 or first >= total then return {whole(first + 1), 0, {}, {}} end
  local found = redis.call('ZREVRANGE', scores, whole(first), whole(first + length - 1), 'WITHSCORES')
  local shared = 0
  if span then shared = sharedRank(scores, tonumber(found[2]), span) end
  return {whole(first + 1), shared, found, namesOf(names, found)}
end

-- Whether one id's bytes come behind another's. Lua's own comparison follows the locale of the server, Redis' does not.
local function larger(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x > y end
  end
  return #a > #b
end

-- How many rows stand at or before a position, which its player may have left. Equal packed scores stand in falling
-- order of the player's bytes.
local function rowsUpTo(packed, id)
  if redis.call('ZSCORE', scores, id) == packed then return redis.call('ZREVRANK', scores, id) + 1 end
  local low = redis.call('ZCOUNT', scores, '(' .. packed, '+inf')
  local high = redis.call('ZCOUNT', scores, packed, '+inf')
  while low < high do
    local middle = math.floor((low + high) / 2)
    local player = redis.call('ZREVRANGE', scores, middle, middle)[1]
    if larger(player, id) then low = middle + 1 else high = middle end
  end
  return low
end

if afterPacked ~= '' then skip = rowsUpTo(afterPacked, afterPlayer) end
local top = page(skip, rows)

local standing, around = {}, {}
if player ~= '' then
  local place = redis.call('ZREVRANK', scores, player)
  if place then
    local packed = redis.call('ZSCORE', scores, player)
    local above = place > 0 and redis.call('ZREVRANGE', scores, place - 1, place - 1, 'WITHSCORES')[2]
    local shared = 0
    if span then shared = sharedRank(scores, tonumber(packed), span) end
    standing = {place + 1, shared, packed, redis.call('HGET', names, player), above}
    if radius >= 0 then
      local first = math.max(0, math.min(place - radius, total - 2 * radius - 1))
      around = page(first, 2 * radius + 1)
    end
  end
end

local version = redis.call('HMGET', board, 'version', 'epoch')
return {'ok', whole(now), version[1], version[2], total, top, standing, around}
