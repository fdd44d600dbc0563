-- lua/key_used.lua notes the use of an API key that is still there.
--
-- KEYS[1]  keys  hash: id -> key, JSON
-- KEYS[2]  used  hash: id -> last use in ms
--
-- ARGV[1]  id
-- ARGV[2]  time in ms
--
-- Returns 1, or 0 when there is no such key.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
return 1
