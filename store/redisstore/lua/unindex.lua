-- lua/unindex.lua takes old names out of the search index, unless a player bears the old name again by now.
--
-- KEYS[1]  names       hash: player -> name
-- KEYS[2]  name-index  sorted set of folded name, NUL, player
--
-- ARGV     three for each: player, old name, folded old name
--
-- Returns how many were taken out.
local names, nameIndex = KEYS[1], KEYS[2]
local removed = 0
for i = 1, #ARGV, 3 do
  if redis.call('HGET', names, ARGV[i]) ~= ARGV[i + 1] then
    removed = removed + redis.call('ZREM', nameIndex, ARGV[i + 2] .. '\0' .. ARGV[i])
  end
end
return removed
