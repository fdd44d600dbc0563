-- lua/job_discard.lua removes a job, wherever it is. A worker that has it finds its token gone.
--
-- ARGV[3]  id
--
-- Returns {'ok'}, or {'absent'}.
local id = ARGV[3]
local kept = redis.call('HGET', data, id)
if not kept then return {'absent'} end
local member = placeOf(kept) .. id
local set = find(member)
if set then redis.call('ZREM', set, member) end
forget({id})
return {set and 'ok' or 'absent'}
