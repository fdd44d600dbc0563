-- lua/job_counts.lua looks at the queue as a whole.
--
-- ARGV[3]  most running jobs to look at
--
-- Returns {'ok', time, scheduled, ready, running, dead, due of the oldest that waits or '', start of the longest that
-- runs or '', 1 when paused, taken back, stale, orphans, trimmed}.
local oldest = head(scheduled) or math.huge
for priority = 0, 9 do
  local least = priority * 1e13
  local first = redis.call('ZRANGEBYSCORE', ready, whole(least), '(' .. whole(least + 1e13), 'WITHSCORES', 'LIMIT', 0, 1)
  if first[2] then oldest = math.min(oldest, tonumber(first[2]) - least) end
end

local ids = {}
for i, member in ipairs(redis.call('ZRANGE', running, 0, tonumber(ARGV[3]) - 1)) do ids[i] = idOf(member) end
local started = math.huge
for _, token in ipairs(fields(tokens, ids)) do
  local at = token and string.match(token, '^ %d+ (%d+) ', 18)
  if at then started = math.min(started, tonumber(at)) end
end

local function known(n) return n < math.huge and whole(n) or '' end
local counts = redis.call('HMGET', meta, 'taken_back', 'stale', 'orphans', 'trimmed')
return {'ok', whole(now), redis.call('ZCARD', scheduled), redis.call('ZCARD', ready), redis.call('ZCARD', running),
  redis.call('ZCARD', dead), known(oldest), known(started), redis.call('HEXISTS', meta, 'paused'),
  counts[1] or '0', counts[2] or '0', counts[3] or '0', counts[4] or '0'}
