-- lua/job_extend.lua gives deliveries a new lease, from now.
--
-- ARGV[3]  ms of a lease
-- ARGV[4…] pairs of id and token
--
-- Returns {'ok', number, …} with the numbers of the pairs whose token is not the newest: they are left alone.
local lease = tonumber(ARGV[3])
local ids, stale, leases = {}, {}, {}
for i = 4, #ARGV, 2 do ids[#ids + 1] = ARGV[i] end
local newest = fields(tokens, ids)
for i, id in ipairs(ids) do
  if newest[i] == ARGV[2 * i + 3] then
    leases[#leases + 1] = whole(now + lease)
    leases[#leases + 1] = placeOf(newest[i]) .. id
  else
    stale[#stale + 1] = i
  end
end
call('ZADD', running, leases)
count('stale', #stale)
return {'ok', unpack(stale)}
