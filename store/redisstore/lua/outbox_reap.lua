-- lua/outbox_reap.lua puts back what a sender held that shows no sign of life, or that leaves. Up to 128 parcels at
-- once, in their order, and before all that waits.
--
-- KEYS[1]  queue    list, from which senders take at the right end
-- KEYS[2]  workers  sorted set: sender -> time of its last sign of life
-- KEYS[3]  worker   list of what the sender holds
-- KEYS[4]  beat     key that is there while the sender lives
-- KEYS[5]  dead     list, newest first: time of death, space, reason, NUL, parcel
--
-- ARGV[1]  time in ms, or ''         ARGV[4]  most attempts of a parcel
-- ARGV[2]  sender                    ARGV[5]  most dead parcels
-- ARGV[3]  '1' when it leaves by its own will
--
-- Returns {'ok', parcels put back, 1 when there are more}, or {'alive'}.
local queue, workers, worker, beat, dead = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local now, sender, leaves, mostAttempts, most = clock(ARGV[1]), ARGV[2], ARGV[3] == '1', tonumber(ARGV[4]), tonumber(ARGV[5])
local remembered = 3600 * 1000

if not leaves and redis.call('EXISTS', beat) == 1 then return {'alive'} end
local parcels = redis.call('LRANGE', worker, 0, 127) -- newest first: the oldest ends up at the right end
for _, parcel in ipairs(parcels) do
  local attempts, rest = string.match(parcel, '^(%d+)( .*)$')
  -- Being held by a sender that dies counts as a try: a parcel that kills its senders must end.
  if not leaves and attempts then
    attempts = tonumber(attempts) + 1
    parcel = attempts .. rest
  end
  if attempts and tonumber(attempts) >= mostAttempts then
    redis.call('LPUSH', dead, whole(now) .. ' its senders died\0' .. parcel)
    redis.call('LTRIM', dead, 0, most - 1)
  else
    redis.call('RPUSH', queue, parcel)
  end
end
redis.call('LTRIM', worker, #parcels, -1)
local more = redis.call('EXISTS', worker)
if more == 0 then
  -- One that only slept may wake and take a parcel before its next sign of life: it is looked at for a while yet.
  local seen = tonumber(redis.call('ZSCORE', workers, sender) or '0')
  if leaves or seen < now - remembered then redis.call('ZREM', workers, sender) end
  if leaves then redis.call('DEL', beat) end
end
return {'ok', #parcels, more}
