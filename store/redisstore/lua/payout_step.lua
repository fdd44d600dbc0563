-- lua/payout_step.lua keeps how far a payout came, after the rewards of a page stand in the job queue.
--
-- KEYS[1]  payouts  hash: reward -> how far its payout came
--
-- ARGV[1]  reward
-- ARGV[2]  how far it had come      ARGV[3]  how far it has come
--
-- Returns {'ok'}, or {'moved'} when another worker was here.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return {'moved'} end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return {'ok'}
