-- lua/erase_kept.lua takes something out of a key, or puts something else in its place, unless it changed since the
-- caller looked.
--
-- KEYS[1]  a string, a hash, a list or a sorted set
--
-- ARGV[1]  string, hash, list or zset
-- ARGV[2]  field of a hash, or ''
-- ARGV[3]  the value, the item or the member that the caller saw
-- ARGV[4]  what to put there, or '' for nothing; a string just goes
--
-- Returns 1, or 0 when it is not there as the caller saw it.
local key, kind, field, seen, instead = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]

if kind == 'string' then
  if redis.call('GET', key) ~= seen then return 0 end
  redis.call('UNLINK', key)
elseif kind == 'hash' then
  if redis.call('HGET', key, field) ~= seen then return 0 end
  if instead == '' then redis.call('HDEL', key, field) else redis.call('HSET', key, field, instead) end
elseif kind == 'list' then
  if instead ~= '' and redis.call('LINSERT', key, 'BEFORE', seen, instead) < 1 then return 0 end
  return redis.call('LREM', key, 1, seen)
else
  local score = redis.call('ZSCORE', key, seen)
  if not score then return 0 end
  redis.call('ZREM', key, seen)
  if instead ~= '' then redis.call('ZADD', key, score, instead) end
end
return 1
