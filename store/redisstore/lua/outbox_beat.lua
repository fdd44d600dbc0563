-- lua/outbox_beat.lua is a sender's sign of life.
--
-- KEYS[1]  workers  sorted set: sender -> time of its last sign of life
-- KEYS[2]  beat     key that is there while the sender lives
--
-- ARGV[1]  time in ms, or ''
-- ARGV[2]  sender
-- ARGV[3]  ms until the sender counts as dead
--
-- Returns {'ok'}.
redis.call('ZADD', KEYS[1], whole(clock(ARGV[1])), ARGV[2])
redis.call('SET', KEYS[2], '1', 'PX', ARGV[3])
return {'ok'}
