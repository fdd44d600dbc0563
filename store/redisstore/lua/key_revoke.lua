-- lua/key_revoke.lua removes an API key.
--
-- KEYS[1]  keys  hash: id -> key, JSON
-- KEYS[2]  used  hash: id -> last use in ms
--
-- ARGV[1]  id
--
-- Returns 1, or 0 when there was none.
redis.call('HDEL', KEYS[2], ARGV[1])
return redis.call('HDEL', KEYS[1], ARGV[1])
