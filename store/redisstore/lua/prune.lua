-- lua/prune.lua removes a closed season that is kept no longer. One with rewards stays until they are paid. Redis frees
-- the sets in a thread of its own.
--
-- KEYS[1]  seasons  hash: number -> record
-- KEYS[2]  scores   sorted set of the season
-- KEYS[3]  banned   sorted set of the season
-- KEYS[4…] what else the season has
--
-- ARGV[1]  number
--
-- Returns 1, or 0 when it must stay or is gone.
local seasons, number = KEYS[1], ARGV[1]

local record = redis.call('HGET', seasons, number)
if not record then return 0 end
local season = cjson.decode(record)
if not season.closed or season.rewards and not season.paid then return 0 end
redis.call('HDEL', seasons, number)
for i = 2, #KEYS do redis.call('UNLINK', KEYS[i]) end
return 1
