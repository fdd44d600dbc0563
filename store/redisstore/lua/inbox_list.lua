-- lua/inbox_list.lua reads a page of a player's inbox, newest first.
--
-- KEYS[1]  inbox    sorted set: number -> number
-- KEYS[2]  prizes   hash: number -> time, space, prize
-- KEYS[3]  claimed  sorted set: number -> time of the claim
--
-- ARGV[1]  number behind which the page begins, or ''
-- ARGV[2]  most prizes
--
-- Returns {'ok', unclaimed, 1 when there are more, then for each: number, time and prize, time of the claim or ''}.
local inbox, prizes, claimed = KEYS[1], KEYS[2], KEYS[3]
local from, most = ARGV[1] == '' and '+inf' or '(' .. ARGV[1], tonumber(ARGV[2])

local numbers = redis.call('ZREVRANGEBYSCORE', inbox, from, '-inf', 'LIMIT', 0, most + 1)
local more = #numbers > most and 1 or 0
local out = {'ok', redis.call('ZCARD', inbox) - redis.call('ZCARD', claimed), more}
for i = 1, math.min(#numbers, most) do
  local at = redis.call('ZSCORE', claimed, numbers[i])
  out[#out + 1] = numbers[i]
  out[#out + 1] = redis.call('HGET', prizes, numbers[i]) or ''
  out[#out + 1] = at and whole(tonumber(at)) or ''
end
return out
