
-- lua/job_prelude.lua stands between the prelude and every script of the job queue: its keys, its clock, and what
-- several of the scripts do.
--
-- KEYS[1]  scheduled   sorted set of jobs by due time
-- KEYS[2]  ready       sorted set by priority × 1e13 + due time
-- KEYS[3]  running     sorted set by the end of the lease
-- KEYS[4]  dead        sorted set by time of death
-- KEYS[5]  data        hash: id -> place, kind and payload, with a space between them
-- KEYS[6]  tokens      hash: id -> token of the delivery that runs: place, due, time of the delivery, a word of its own
-- KEYS[7]  deliveries  hash: id -> how often it was handed out
-- KEYS[8]  reasons     hash: id -> number of failures, a space, the last reason
-- KEYS[9]  meta        hash: seq, paused, and the counts taken_back, stale, orphans, trimmed
--
-- ARGV[1]  time in ms, or ''
-- ARGV[2]  channel that wakes sleeping workers
--
-- A job is a member of exactly one of the sorted sets: its place, which is 16 digits of its sequence and one of its
-- priority, and its id. So equal scores stay in order of arrival, and a job moves without a look at its data.
local scheduled, ready, running, dead = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local data, tokens, deliveries, reasons, meta = KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local now, wake = clock(ARGV[1]), ARGV[2]
local step = 128 -- jobs moved at once: a call must not hold Redis up

local function placeOf(text) return string.sub(text, 1, 17) end
local function idOf(member) return string.sub(member, 18) end

-- Whether a member is one of ours: whoever pushes by hand may push anything.
local function ours(member)
  return #member > 17 and not string.find(placeOf(member), '%D')
end

local function span(place) return tonumber(string.sub(place, 17, 17)) * 1e13 end

local function count(what, n)
  if n > 0 then redis.call('HINCRBY', meta, what, n) end
end

-- Lowest score of a sorted set, or nil.
local function head(set)
  local first = redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')[2]
  return first and tonumber(first)
end

local function call(command, key, list)
  if #list > 0 then redis.call(command, key, unpack(list)) end
end

-- Values of some fields of a hash.
local function fields(hash, ids)
  if #ids == 0 then return {} end
  return redis.call('HMGET', hash, unpack(ids))
end

-- Makes jobs wait, for a worker or for their time, and wakes sleepers when one comes before all that waited. Both lists
-- are flat: score, member, …
local function wait(toReady, toScheduled)
  local earlier = #toReady > 0 and redis.call('ZCARD', ready) == 0
  local first = #toScheduled > 0 and head(scheduled)
  for i = 1, #toScheduled, 2 do
    earlier = earlier or not first or tonumber(toScheduled[i]) < first
  end
  call('ZADD', ready, toReady)
  call('ZADD', scheduled, toScheduled)
  if earlier then redis.call('PUBLISH', wake, '') end
end

-- Takes every trace of some jobs away, but for their members in sorted sets.
local function forget(ids)
  for _, hash in ipairs({data, tokens, deliveries, reasons}) do call('HDEL', hash, ids) end
end

-- Takes finished jobs out. The pairs of id and token begin at an argument. Returns the numbers of the pairs whose
-- token is not the newest: they are left alone.
local function finish(from)
  local ids, stale, members, done = {}, {}, {}, {}
  for i = from, #ARGV, 2 do ids[#ids + 1] = ARGV[i] end
  local newest = fields(tokens, ids)
  for i, id in ipairs(ids) do
    local token = ARGV[from + 2 * i - 1]
    if newest[i] == token then
      members[#members + 1] = placeOf(token) .. id
      done[#done + 1] = id
    else
      stale[#stale + 1] = i
    end
  end
  call('ZREM', running, members)
  forget(done)
  count('stale', #stale)
  return stale
end

-- Gives a job up that is in no other set any more. Its payload stays until it is trimmed. failures is how often it has
-- failed, as text.
local function bury(member, failures, reason)
  local id = idOf(member)
  redis.call('ZADD', dead, whole(now), member)
  redis.call('HSET', reasons, id, failures .. ' ' .. reason)
  redis.call('HDEL', tokens, id)
end

-- Removes dead jobs beyond a number or an age, some at a time. Returns how many.
local function trim(most, age)
  local old = redis.call('ZRANGEBYSCORE', dead, '-inf', '(' .. whole(now - age), 'LIMIT', 0, step)
  local over = redis.call('ZCARD', dead) - most
  if #old == 0 and over > 0 then old = redis.call('ZRANGE', dead, 0, math.min(over, step) - 1) end
  local ids = {}
  for i, member in ipairs(old) do ids[i] = idOf(member) end
  call('ZREM', dead, old)
  forget(ids)
  count('trimmed', #old)
  return #old
end

-- How often a job has failed, as text, and the last reason.
local function failuresOf(id)
  local kept = redis.call('HGET', reasons, id)
  if not kept then return '0', '' end
  local failures, reason = string.match(kept, '^(%d+) (.*)$')
  return failures or '0', reason or kept
end

-- The set that a job is in and its score there, or nil.
local function find(member)
  for _, set in ipairs({scheduled, ready, running, dead}) do
    local score = redis.call('ZSCORE', set, member)
    if score then return set, tonumber(score) end
  end
end

