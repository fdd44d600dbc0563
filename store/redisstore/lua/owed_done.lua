-- lua/owed_done.lua takes out of a hash what the queue has now, unless it changed since the caller looked.
--
-- KEYS[1]  hash
--
-- ARGV     pairs of field and value as the caller saw it
--
-- Returns how many were taken out.
local hash = KEYS[1]

local done = 0
for i = 1, #ARGV, 2 do
  if redis.call('HGET', hash, ARGV[i]) == ARGV[i + 1] then done = done + redis.call('HDEL', hash, ARGV[i]) end
end
return done
