-- lua/outbox_bury.lua gives a parcel up: it moves from its sender's list to the dead, the oldest of which make room.
--
-- KEYS[1]  worker  list of what the sender holds
-- KEYS[2]  dead    list, newest first: time of death, space, reason, NUL, parcel
--
-- ARGV[1]  time in ms, or ''    ARGV[4]  most dead parcels
-- ARGV[2]  parcel               ARGV[5]  ms that a dead parcel is kept
-- ARGV[3]  reason                ARGV[6]  what to keep of the parcel
--
-- Returns {'ok'}, or {'absent'} when the sender does not hold it any more.
local worker, dead = KEYS[1], KEYS[2]
local now, parcel, reason, most, age = clock(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])

if redis.call('LREM', worker, -1, parcel) == 0 then return {'absent'} end
redis.call('LPUSH', dead, whole(now) .. ' ' .. reason .. '\0' .. ARGV[6])
redis.call('LTRIM', dead, 0, most - 1)
for _ = 1, 128 do
  local oldest = redis.call('LINDEX', dead, -1)
  local died = oldest and tonumber(string.match(oldest, '^(%d+) ') or '0')
  if not died or died >= now - age then break end
  redis.call('RPOP', dead)
end
return {'ok'}
