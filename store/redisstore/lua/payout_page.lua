-- lua/payout_page.lua reads the next winners of a reward, from where its payout has come to.
--
-- KEYS[1]  payouts  hash: reward -> how far its payout came, JSON
-- KEYS[2]  scores   sorted set of the season
--
-- ARGV[1]  reward
-- ARGV[2]  most winners
--
-- Returns {'ended'}, or {'ok', how far it came, place before the first, 1 when the last shares its packed score with the
-- next, winners and their packed scores}.
local payouts, scores = KEYS[1], KEYS[2]
local reward, most = ARGV[1], tonumber(ARGV[2])

local known = redis.call('HGET', payouts, reward)
if not known then return {'ended'} end
local state = cjson.decode(known)

-- Whether one id's bytes come behind another's. Lua's own comparison follows the locale of the server, Redis' does not.
local function larger(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x > y end
  end
  return #a > #b
end

-- How many rows stand at or before a position. Equal packed scores stand in falling order of the player's bytes, and the
-- player of a position may be gone.
local function rowsUpTo(position)
  local packed, player = position.packed, position.player
  if packed == '+inf' then return 0 end
  if player == '' then return redis.call('ZCOUNT', scores, packed, '+inf') end
  local low = redis.call('ZCOUNT', scores, '(' .. packed, '+inf')
  local high = redis.call('ZCOUNT', scores, packed, '+inf')
  while low < high do
    local middle = math.floor((low + high) / 2)
    local there = redis.call('ZREVRANGE', scores, middle, middle)[1]
    if there == player or larger(there, player) then low = middle + 1 else high = middle end
  end
  return low
end

local first, last = rowsUpTo(state.at), rowsUpTo(state.to)
local stop = math.min(first + most, last)
if stop <= first then return {'ok', known, first, 0, {}} end
local rows = redis.call('ZREVRANGE', scores, first, stop - 1, 'WITHSCORES')
local following = redis.call('ZREVRANGE', scores, stop, stop, 'WITHSCORES')
return {'ok', known, first, following[2] == rows[#rows] and 1 or 0, rows}
