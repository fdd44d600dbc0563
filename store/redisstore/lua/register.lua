-- lua/register.lua puts a board's incarnation into the list of boards, or marks it as gone. Gone ones stay as negative
-- numbers, so that a board of the same id counts on.
--
-- KEYS[1]  boards  hash: board id -> incarnation
--
-- ARGV[1]  id
-- ARGV[2]  incarnation: positive to put, negative to mark as gone
--
-- Returns 1, or 0 when another incarnation stands there.
local boards, id, wanted = KEYS[1], ARGV[1], tonumber(ARGV[2])

local present = tonumber(redis.call('HGET', boards, id) or '0')
if present == wanted then return 1 end
if wanted > 0 and math.abs(present) ~= wanted - 1 then return 0 end
if wanted < 0 and present ~= -wanted then return 0 end
redis.call('HSET', boards, id, wanted)
return 1
