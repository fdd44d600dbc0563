-- lua/job_add.lua adds up to 128 jobs. One whose id is there already, dead or alive, stays as it is. What is due in the
-- past is due now: among jobs of one priority, whoever came first is first.
--
-- ARGV[3…]  five for each job: id, kind, due in ms or '' or + and ms from now, priority, payload
--
-- Returns {'ok', jobs that are ready now, 1 or 0 for each: whether it is new}.
local ids, flags, seen = {}, {}, {}
for i = 3, #ARGV, 5 do ids[#ids + 1] = ARGV[i] end

-- Whether a job of this id is on its way or dead. A payload that no set names was left by somebody else's hand: it
-- would keep the job out for ever.
local function known(id)
  if seen[id] then return true end
  local kept = redis.call('HGET', data, id)
  return kept and find(placeOf(kept) .. id)
end

local fresh = {}
for i, id in ipairs(ids) do
  flags[i] = known(id) and 0 or 1
  if flags[i] == 1 then
    seen[id] = true
    fresh[#fresh + 1] = 3 + 5 * (i - 1)
  end
end
if #fresh > 0 then
  local sequence = redis.call('HINCRBY', meta, 'seq', #fresh) - #fresh
  local toReady, toScheduled, kept, old = {}, {}, {}, {}
  for i, at in ipairs(fresh) do
    local id, kind, due, priority, payload = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
    local place = string.format('%016.0f', sequence + i) .. priority
    due = string.sub(due, 1, 1) == '+' and now + tonumber(string.sub(due, 2)) or math.max(now, tonumber(due) or now)
    local to = due > now and toScheduled or toReady
    to[#to + 1] = whole(due > now and due or span(place) + due)
    to[#to + 1] = place .. id
    kept[#kept + 1] = id
    kept[#kept + 1] = place .. ' ' .. kind .. ' ' .. payload
    old[#old + 1] = id
  end
  forget(old)
  call('HSET', data, kept)
  wait(toReady, toScheduled)
end
return {'ok', redis.call('ZCARD', ready), unpack(flags)}
