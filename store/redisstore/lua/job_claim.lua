-- lua/job_claim.lua is the one script by which workers get jobs. It takes out what the caller has finished, takes back
-- what dead workers held, promotes what is due, and hands out the best, each with a token of its own.
--
-- While more is due than one call promotes, nothing is handed out: the order is exact whatever the load, and the caller
-- comes back at once.
--
-- ARGV[3]  most jobs to hand out, 0 to 128     ARGV[7]  largest data, in bytes
-- ARGV[4]  ms of a lease                       ARGV[8]  most dead jobs
-- ARGV[5]  a word that no other call has       ARGV[9]  ms that a dead job is kept
-- ARGV[6]  most deliveries of a job            ARGV[10…]  pairs of id and token: finished deliveries
--
-- Returns {'ok' or 'paused', time, ms to sleep or -1 when nothing waits, 1 when anything changed, numbers of the
-- pairs whose token is old, then for each job: id, token, number of the delivery, data}.
local most, lease, word = tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local mostDeliveries, largest = tonumber(ARGV[6]), tonumber(ARGV[7])
local mostDead, deadAge = tonumber(ARGV[8]), tonumber(ARGV[9])
local changed = #ARGV > 9
local orphans = 0

local stale = finish(10)

-- Moves to ready what a set's scores say is due. move says with which score, or nil where it has seen to a job itself.
-- Returns whether there may be more.
local function drain(set, move)
  local rows = redis.call('ZRANGEBYSCORE', set, '-inf', whole(now), 'WITHSCORES', 'LIMIT', 0, step)
  local toReady, gone = {}, {}
  for i = 1, #rows, 2 do
    local member = rows[i]
    gone[#gone + 1] = member
    if ours(member) then
      local score = move(member, math.max(0, tonumber(rows[i + 1])))
      if score then
        toReady[#toReady + 1] = whole(score)
        toReady[#toReady + 1] = member
      end
    else
      orphans = orphans + 1
    end
  end
  call('ZADD', ready, toReady)
  call('ZREM', set, gone)
  changed = changed or #gone > 0
  return #gone == step
end

local takenBack = 0
local moreLost = drain(running, function(member, deadline)
  local id = idOf(member)
  takenBack = takenBack + 1
  if tonumber(redis.call('HGET', deliveries, id) or '0') >= mostDeliveries then
    bury(member, failuresOf(id), 'its worker died or hung on the last of ' .. mostDeliveries .. ' deliveries')
    return nil
  end
  redis.call('HDEL', tokens, id)
  return span(member) + deadline
end)
count('taken_back', takenBack)
local moreDue = drain(scheduled, function(member, due) return span(member) + due end)
local paused = redis.call('HEXISTS', meta, 'paused') == 1

-- What to do with the best of ready: members to hand out, with their due times; jobs to bury, with the reason; and
-- strays, which have no job.
local members, dues, ids, buried, strays = {}, {}, {}, {}, {}
if most > 0 and not (paused or moreLost or moreDue) then
  local rows = redis.call('ZRANGE', ready, 0, most - 1, 'WITHSCORES')
  for i = 1, #rows, 2 do
    local member = rows[i]
    local size = ours(member) and redis.call('HSTRLEN', data, idOf(member)) or 0
    if size == 0 then
      strays[#strays + 1] = member
    elseif size > largest then -- not to be read: it would be copied
      buried[#buried + 1] = {member, 'its payload is too large: ' .. size .. ' bytes', ''}
    else
      members[#members + 1] = member
      dues[#dues + 1] = tonumber(rows[i + 1]) - span(member)
      ids[#ids + 1] = idOf(member)
    end
  end
end

local kept, delivered = fields(data, ids), fields(deliveries, ids)
local taken, toRunning, newTokens, newDeliveries, out = {}, {}, {}, {}, {}
local deadline = whole(now + lease)
for i, member in ipairs(members) do
  local id, place, number = ids[i], placeOf(member), tonumber(delivered[i] or '0') + 1
  if string.find(placeOf(kept[i]), '%D') or not string.find(kept[i], '^ [%w_.-]+ ', 18) then
    buried[#buried + 1] = {member, 'it cannot be read', string.sub(kept[i], 1, 1024)}
  elseif placeOf(kept[i]) ~= place then
    strays[#strays + 1] = member -- the job of this id is another one
  elseif number > mostDeliveries then
    buried[#buried + 1] = {member, 'it was handed out ' .. mostDeliveries .. ' times'}
  else
    local token = place .. ' ' .. whole(dues[i]) .. ' ' .. whole(now) .. ' ' .. word .. '.' .. i
    local a, b = 2 * #taken, 4 * #taken
    taken[#taken + 1] = member
    toRunning[a + 1], toRunning[a + 2] = deadline, member
    newTokens[a + 1], newTokens[a + 2] = id, token
    newDeliveries[a + 1], newDeliveries[a + 2] = id, number
    out[b + 1], out[b + 2], out[b + 3], out[b + 4] = id, token, number, kept[i]
  end
end

call('ZADD', running, toRunning)
call('HSET', tokens, newTokens)
call('HSET', deliveries, newDeliveries)
call('ZREM', ready, taken)
call('ZREM', ready, strays)
count('orphans', orphans + #strays)
for _, grave in ipairs(buried) do
  local member, reason, instead = grave[1], grave[2], grave[3]
  redis.call('ZREM', ready, member)
  -- Dead jobs are bounded by number, so none of them may be large; and all can be found by id.
  if instead then redis.call('HSET', data, idOf(member), placeOf(member) .. ' unreadable ' .. instead) end
  bury(member, failuresOf(idOf(member)), reason)
end
local trimmed = (#taken == 0 or #buried > 0) and trim(mostDead, deadAge) or 0
changed = changed or #taken + #strays + #buried + trimmed > 0

local sleep = -1
if moreLost or moreDue or not paused and redis.call('ZCARD', ready) > 0 then
  sleep = 0
else
  local first = math.min(head(scheduled) or math.huge, head(running) or math.huge)
  if first < math.huge then sleep = math.max(0, first - now) end
end
return {paused and 'paused' or 'ok', whole(now), whole(sleep), changed and 1 or 0, stale, unpack(out)}
