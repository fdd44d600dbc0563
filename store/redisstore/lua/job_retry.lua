-- lua/job_retry.lua gives a dead job a new life: it is ready now, with nothing counted against it.
--
-- ARGV[3]  id
--
-- Returns {'ok'}, {'absent'}, or {'alive'} when the job is not dead.
local id = ARGV[3]
local kept = redis.call('HGET', data, id)
local member = kept and placeOf(kept) .. id
local set = member and find(member)
if not set then return {'absent'} end
if set ~= dead then return {'alive'} end
wait({whole(span(member) + now), member}, {})
redis.call('ZREM', dead, member)
redis.call('HDEL', deliveries, id)
redis.call('HDEL', reasons, id)
return {'ok'}
