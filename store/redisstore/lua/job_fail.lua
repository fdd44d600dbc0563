-- lua/job_fail.lua takes back a delivery that did not work out: the job waits, twice as long as after the failure
-- before, or is dead.
--
-- ARGV[3]  id                            ARGV[8]   longest wait in ms
-- ARGV[4]  token                         ARGV[9]   what to add to the wait, in thousandths of it
-- ARGV[5]  reason                        ARGV[10]  least wait in ms
-- ARGV[6]  '1' when it is to be dead     ARGV[11]  most deliveries
-- ARGV[7]  first wait in ms              ARGV[12]  most dead jobs      ARGV[13]  ms that a dead job is kept
--
-- Returns {'stale'} with nothing done, {'dead'}, or {'ok', due}.
local id, token, reason, final = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local first, longest, jitter, least = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local mostDeliveries, mostDead, deadAge = tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13])

if redis.call('HGET', tokens, id) ~= token then
  count('stale', 1)
  return {'stale'}
end
local member = placeOf(token) .. id
local failures = tonumber((failuresOf(id))) + 1
local delivered = tonumber(redis.call('HGET', deliveries, id) or '0')
if final == '1' or delivered >= mostDeliveries then
  bury(member, whole(failures), reason)
  redis.call('ZREM', running, member)
  trim(mostDead, deadAge)
  return {'dead'}
end
local pause = math.min(longest, first * 2 ^ (failures - 1))
local due = whole(now + math.max(least, math.floor(pause * (1 + jitter / 1000))))
redis.call('HSET', reasons, id, whole(failures) .. ' ' .. reason)
redis.call('HDEL', tokens, id)
redis.call('ZREM', running, member)
wait({}, {due, member})
return {'ok', due}
