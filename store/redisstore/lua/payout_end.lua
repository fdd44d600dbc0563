-- lua/payout_end.lua ends the payout of a reward. With the last one the season is paid.
--
-- KEYS[1]  seasons  hash: number -> record
-- KEYS[2]  payouts  hash: reward -> how far its payout came
--
-- ARGV[1]  number of the season
-- ARGV[2]  reward
--
-- Returns {'ok', 1 when the season is paid now}.
local seasons, payouts, number, reward = KEYS[1], KEYS[2], ARGV[1], ARGV[2]

if redis.call('HDEL', payouts, reward) == 0 or redis.call('EXISTS', payouts) == 1 then return {'ok', 0} end
local record = redis.call('HGET', seasons, number)
if not record then return {'ok', 0} end
-- As text: Lua's own encoder would round what it read.
redis.call('HSET', seasons, number, '{"paid":true,' .. string.sub(record, 2))
return {'ok', 1}
