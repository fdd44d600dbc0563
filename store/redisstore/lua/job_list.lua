-- lua/job_list.lua shows jobs of one state, next first; dead ones newest first.
--
-- ARGV[3]  scheduled, ready, running or dead; or '' for the one job of an id
-- ARGV[4]  jobs to skip      ARGV[5]  most jobs      ARGV[6]  id
--
-- Returns {'ok', then for each job: state, id, place, due in ms, deliveries, failures, reason, data}. In a list data is
-- cut behind the kind.
local state, skip, most, wanted = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local sets = {scheduled = scheduled, ready = ready, running = running, dead = dead}
local out = {'ok'}

local function show(name, member, score, bytes)
  local id = idOf(member)
  local due = score
  if name == 'ready' then
    due = score - span(member)
  elseif name == 'running' then
    due = tonumber(string.match(redis.call('HGET', tokens, id) or '', '^ (%d+) ', 18) or score)
  end
  local failures, reason = failuresOf(id)
  for _, v in ipairs({name, id, placeOf(member), whole(due), redis.call('HGET', deliveries, id) or '0', failures, reason,
    string.sub(redis.call('HGET', data, id) or '', 1, bytes)}) do
    out[#out + 1] = v
  end
end

if state == '' then
  local kept = redis.call('HGET', data, wanted)
  if not kept then return out end
  for name, set in pairs(sets) do
    local score = redis.call('ZSCORE', set, placeOf(kept) .. wanted)
    if score then show(name, placeOf(kept) .. wanted, tonumber(score), -1) end
  end
  return out
end
local command = state == 'dead' and 'ZREVRANGE' or 'ZRANGE'
local rows = redis.call(command, sets[state], skip, skip + most - 1, 'WITHSCORES')
for i = 1, #rows, 2 do
  if ours(rows[i]) then show(state, rows[i], tonumber(rows[i + 1]), 128) end
end
return out
