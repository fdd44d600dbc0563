-- lua/outbox_replay.lua takes a parcel from the dead, and sends it again or drops it.
--
-- KEYS[1]  dead   list
-- KEYS[2]  queue  list
--
-- ARGV[1]  the dead parcel, as it stands there
-- ARGV[2]  the parcel to send, or '' to drop it
--
-- Returns {'ok'}, or {'absent'} when somebody else was first.
if redis.call('LREM', KEYS[1], 1, ARGV[1]) == 0 then return {'absent'} end
if ARGV[2] ~= '' then redis.call('LPUSH', KEYS[2], ARGV[2]) end
return {'ok'}
