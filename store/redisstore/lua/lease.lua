-- lua/lease.lua hands a process some of the calls that a subject may make, by the two-window estimate, and takes back
-- what the process has left of those before. What never comes back counts as used, so that the sum over all processes
-- never exceeds the limit.
--
-- KEYS[1]  rate  hash: window, present, before
--
-- ARGV[1]  time in ms, or ''    ARGV[3]  ms of a window    ARGV[5]  calls given back
-- ARGV[2]  calls in a window    ARGV[4]  calls wanted      ARGV[6]  window in which they were handed out
--
-- Returns {granted, left after that, ms until there is room for one more, ms until the window ends, the window}.
local rate = KEYS[1]
local limit, window, wanted = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local back, of = tonumber(ARGV[5]), tonumber(ARGV[6])

local now = clock(ARGV[1])
local index = math.floor(now / window)
local kept = redis.call('HMGET', rate, 'window', 'present', 'before')
local was, present, before = tonumber(kept[1] or -1), tonumber(kept[2] or 0), tonumber(kept[3] or 0)
if was ~= index then
  before = was == index - 1 and present or 0
  present = 0
end
if of == index then
  present = math.max(0, present - back)
elseif of == index - 1 then
  before = math.max(0, before - back)
end
local elapsed = now - index * window
local room, wait = estimate(before, present, elapsed, window, limit)
local granted = math.max(0, math.min(room, wanted))
if granted > 0 or back > 0 then
  redis.call('HSET', rate, 'window', whole(index), 'present', present + granted, 'before', before)
  redis.call('PEXPIRE', rate, 2 * window)
end
return {granted, math.max(0, room - granted), wait, window - elapsed, index}
