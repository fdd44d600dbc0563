-- lua/submit.lua takes 1 to 128 submissions of one board and does all that belongs to them. Each stands on its own: a
-- refused one changes nothing and spoils no other.
--
-- KEYS[1]  board       hash: rev, version, total_at
-- KEYS[2]  scores      sorted set of the running season: player -> packed score
-- KEYS[3]  banned      sorted set: packed scores of banned players
-- KEYS[4]  bans        hash: banned player -> why
-- KEYS[5]  names       hash: player -> name
-- KEYS[6]  name-index  sorted set of folded name, NUL, player
-- KEYS[7]  held        hash: id -> submission that waits for an admin, JSON
-- KEYS[8]  uniques     HyperLogLog of the day's players
-- KEYS[9]  pace        submissions of the minute
-- KEYS[10…] activity   list of each submission's player, where the cap is not 0; behind them rate of each one's player,
--                      where there is a limit; behind them the once keys; behind them, where rewards are won by reaching
--                      something, three more: owed (hash), reached (hash: player -> rewards that they have) and holds
--                      (hash: player -> rewards that they hold, each with the number of the time that it was reached)
--
-- ARGV[1]  rev                     ARGV[10] largest points, in whole units
-- ARGV[2]  time in ms, or ''       ARGV[11] live top
-- ARGV[3]  end in ms, or ''        ARGV[12] activity cap
-- ARGV[4]  channel                 ARGV[13] ms to keep a reply
-- ARGV[5]  season                  ARGV[14] key number of the batch's once key, or ''
-- ARGV[6]  policy                  ARGV[15] fingerprint of the batch
-- ARGV[7]  1, or -1 if low is better    ARGV[16] ms of a tick
-- ARGV[8]  start in ms             ARGV[17] decimals
-- ARGV[9]  last slot: 2^T − 1      ARGV[18] largest gain that is not held, or ''
-- ARGV[19] submissions that a player may make in a window, or ''
-- ARGV[20] ms of that window       ARGV[21] number of submissions
-- ARGV[22] number of rewards that are won by reaching something
-- ARGV[23] last tick of the season's length: beyond it ticks stand still, so that ties keep their slots
-- then for each: player, points in whole units, and a word of letters that say what else follows, in this order:
--   n  name, folded name
--   t  time of a backdated one in ms
--   s  slot of an exported one
--   o  key number of its once key, fingerprint
--   h  id of the held submission that it is, which an admin accepts
-- then, where there are such rewards: channel of the relays, board and incarnation, the part of ids of payments that names
-- the season; and for each reward: id, points to reach as they count in the order or '', place to reach, ms to hold it, ms
-- until it is due, priority, rest of the payment, JSON
--
-- Returns {'moved'} or {'over'} with nothing done, {'conflict'} when the batch's once key came with another body, or
-- {'ok', version, total, 1 when the batch's once key was there before, renames, shared, results}. renames is a flat list
-- of players and their names before; shared counts scores that found no free slot. results has six for each submission:
-- points, 1 if they improved, rank, previous rank or 0, total, time achieved in ms. They leave as integers, which is
-- exact and costs Redis a fifth of what text does. Where the first is text, the others mean nothing, and it is
--   banned, range, future, early, slot, conflict, full (too many are held) or gone (no longer held),
--   limited and the ms to wait,
--   held SEASON DECIMALS SUBMITTED POINTS TOTAL, where a player without points has -, or
--   again and the kept reply of an earlier call, which may also be
--   ok SEASON DECIMALS SUBMITTED POINTS IMPROVED RANK PREVIOUS_RANK TOTAL ACHIEVED
local board, scores, banned, bans, names, nameIndex = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local held, uniques, pace = KEYS[7], KEYS[8], KEYS[9]
local rev, ends, channel, season, policy = ARGV[1], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local sign, start, lastSlot, limit = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local liveTop, activityCap, keep = tonumber(ARGV[11]), tonumber(ARGV[12]), ARGV[13]
local batchOnce, batchFingerprint, tickLength = ARGV[14], ARGV[15], tonumber(ARGV[16])
local decimals, maxStep = ARGV[17], tonumber(ARGV[18])
local playerLimit, window, count = tonumber(ARGV[19]), tonumber(ARGV[20]), tonumber(ARGV[21])
local span = lastSlot + 1
local activityKeys = activityCap > 0 and 9
local rateKeys = playerLimit and 9 + (activityKeys and count or 0)
local activityKeep = '2592000000' -- 30 days; text, since a number handed to Redis is printed as a float first
local uniquesKeep = '3456000000' -- 40 days
local paceKeep = '7200000' -- 2 hours
local mostHeld = 10000
local exactLimit = 128 -- longer logs would leave Redis' compact list encoding
local goals, lastTick = tonumber(ARGV[22]), tonumber(ARGV[23])

local now = clock(ARGV[2])
local why = stale(board, rev, ends, now)
if why then return {why} end

local nowText, lastActivity = whole(now), whole(activityCap - 1)

local batchSeen = 0
if batchOnce ~= '' then
  local key = KEYS[tonumber(batchOnce)]
  local seen = redis.call('GET', key)
  if seen and seen ~= batchFingerprint then return {'conflict'} end
  if seen then batchSeen = 1 else redis.call('SET', key, batchFingerprint, 'PX', keep) end
end

local anyBans = redis.call('HLEN', bans) > 0
local anyBanned = anyBans and redis.call('ZCARD', banned) > 0
local nowTick = math.max(0, math.min(lastTick, math.floor((now - start) / tickLength)))
local total = redis.call('ZCARD', scores)
local totalBefore = total
local changes = 0 -- of rows inside the live top
local renames = {}
local shared = 0

-- Lowest packed score among equal points in a set, or nil. Mostly there is none, which ZCOUNT says in a third of the time
-- that ZRANGEBYSCORE takes to answer with nothing.
local function lowest(set, value)
  local first, last = whole(value * span), whole(value * span + lastSlot)
  if redis.call('ZCOUNT', set, first, last) == 0 then return nil end
  return tonumber(redis.call('ZRANGEBYSCORE', set, first, last, 'WITHSCORES', 'LIMIT', '0', '1')[2])
end

-- The first free slot behind everybody with the same points, banned players too: they may come back.
local function behindEquals(value)
  local packed = value * span + lastSlot - nowTick
  local last = lowest(scores, value)
  if last and last <= packed then packed = last - 1 end
  if anyBanned then
    last = lowest(banned, value)
    if last and last <= packed then packed = last - 1 end
  end
  if packed >= value * span then return packed end
  shared = shared + 1
  return value * span
end

-- The slot of a backdated time, or nil and the reason why not.
local function slotAt(time)
  if time > now then return nil, 'future' end
  if time < start then return nil, 'early' end
  return math.min(lastTick, math.floor((time - start) / tickLength))
end

-- The packed score after a submission, or nil when it changes nothing. old is nil for a first score.
local function place(value, old, oldValue, slot)
  if not slot then
    if old and (value == oldValue or policy == 'best' and value < oldValue) then return nil end
    return behindEquals(value)
  end
  local oldSlot = old and oldValue * span + lastSlot - old
  if policy == 'sum' and old then
    if value == oldValue then return nil end
    slot = math.max(slot, oldSlot) -- a sum is reached with its last part
  elseif policy == 'last' and old and slot < oldSlot and value ~= oldValue then
    return nil -- history that arrives late: a later one stands already
  end
  local packed = value * span + lastSlot - slot
  if old and policy ~= 'sum' and value == oldValue and packed <= old then return nil end
  if old and policy == 'best' and value < oldValue then return nil end
  return packed
end

local function rename(player, name, folded)
  local before = redis.call('HGET', names, player)
  if before == name then return false end
  redis.call('HSET', names, player, name)
  redis.call('ZADD', nameIndex, 0, folded .. '\0' .. player)
  if before then
    renames[#renames + 1] = player
    renames[#renames + 1] = before
  end
  return true
end

local function remember(key, kind, value, oldValue, rank, previous)
  local was = oldValue and whole(sign * oldValue) or ''
  local entry = table.concat({nowText, kind, decimals, whole(sign * value), was, whole(rank), whole(previous)}, ' ')
  if redis.call('LPUSH', key, entry) > activityCap then redis.call('LTRIM', key, '0', lastActivity) end
  redis.call('PEXPIRE', key, activityKeep)
end

-- The ms that a player must wait, or nil when there is room; then the submission is counted.
local function limited(key)
  if playerLimit <= exactLimit then
    local oldest = redis.pcall('LINDEX', key, playerLimit - 1)
    if type(oldest) == 'table' then -- kept for a larger limit
      redis.call('UNLINK', key)
      oldest = false
    end
    local wait = oldest and tonumber(oldest) + window - now or 0
    if wait > 0 then return math.min(wait, window) end
    if redis.call('LPUSH', key, nowText) > playerLimit then
      redis.call('LTRIM', key, '0', whole(playerLimit - 1))
    end
    redis.call('PEXPIRE', key, ARGV[20])
    return nil
  end
  local index = math.floor(now / window)
  local kept = redis.pcall('HMGET', key, 'window', 'present', 'before')
  if kept.err then
    redis.call('UNLINK', key)
    kept = {}
  end
  local was, present, before = tonumber(kept[1] or -1), tonumber(kept[2] or 0), tonumber(kept[3] or 0)
  if was ~= index then
    before = was == index - 1 and present or 0
    present = 0
  end
  local room, wait = estimate(before, present, now - index * window, window, playerLimit)
  if room == 0 then return wait end
  redis.call('HSET', key, 'window', whole(index), 'present', present + 1, 'before', before)
  redis.call('PEXPIRE', key, 2 * window)
  return nil
end

-- Keeps a submission for an admin. A player without points may gain as much as anybody.
local function hold(player, units, name, oldValue)
  if redis.call('HLEN', held) >= mostHeld then return 'full' end
  local present = oldValue and whole(sign * oldValue) or '-'
  redis.call('HSET', held, redis.call('HINCRBY', board, 'held_seq', 1), cjson.encode({
    player = player, points = whole(units), present = present, at = whole(now), season = season, decimals = decimals,
    name = name or '',
  }))
  return table.concat({'held', season, decimals, whole(units), present, total}, ' ')
end

-- Takes one submission. slot is nil unless it was asked for. Returns a reason to refuse, or nil and the six results.
local function take(player, units, name, folded, slot, activity)
  if anyBans and redis.call('HEXISTS', bans, player) == 1 then return 'banned' end
  if slot and slot > lastSlot then return 'slot' end

  local old = redis.call('ZSCORE', scores, player)
  old = old and tonumber(old) or nil
  local oldValue = old and math.floor(old / span)
  local value = sign * units
  if policy == 'sum' and old then value = oldValue + value end
  if value > limit or value < -limit then return 'range' end
  if maxStep and not slot and value - (oldValue or 0) > maxStep then return hold(player, units, name, oldValue) end

  local packed = place(value, old, oldValue, slot)
  local renamed = name and rename(player, name, folded)
  local previous = old and redis.call('ZREVRANK', scores, player) + 1 or 0
  local rank = previous
  local improved = 0
  if packed then
    redis.call('ZADD', scores, whole(packed), player)
    rank = redis.call('ZREVRANK', scores, player) + 1
    if not old then total = total + 1 end
    if not old or value > oldValue then improved = 1 end
    if value ~= oldValue and activityCap > 0 then
      local kind = improved == 1 and 'best' or 'score'
      if rank <= liveTop and (previous == 0 or previous > liveTop) then kind = 'entered_top' end
      remember(activity, kind, value, oldValue, rank, previous)
    end
  else
    packed, value = old, oldValue
  end
  if (renamed or packed ~= old) and (rank <= liveTop or previous > 0 and previous <= liveTop) then
    changes = changes + 1
  end
  local achieved = math.min(now, start + (value * span + lastSlot - packed) * tickLength)
  return nil, sign * value, improved, rank, previous, total, achieved
end

-- The reply kept for a once key when its fingerprint is the same, 'conflict' when it is not, nil when there is none. Behind
-- a NUL stands whose it is: an erasure must know.
local function keptReply(key, fingerprint)
  local kept = redis.call('GET', key)
  if not kept then return nil end
  local split = string.find(kept, ' ', 1, true) or #kept + 1 -- a batch's key keeps no reply
  if string.sub(kept, 1, split - 1) ~= fingerprint then return 'conflict' end
  local owner = string.find(kept, '\0', split, true) or #kept + 1
  return 'again ' .. string.sub(kept, split + 1, owner - 1)
end

-- Tells who reached what, given a player, their points as they count, their place, and the one before or 0.
local noticeReach
if goals > 0 then
  local owed, reached, holds = KEYS[#KEYS - 2], KEYS[#KEYS - 1], KEYS[#KEYS]
  local from = #ARGV - 7 * goals
  local relays, who, ref = ARGV[from - 2], ARGV[from - 1], ARGV[from]
  local woken = false

  local function owes(id, kind, due, priority, payload, player)
    owe(owed, id, kind, due, priority, payload, player)
    if not woken then wakeRelays(relays, who) end
    woken = true
  end

  local function loses(player, id)
    local list = redis.call('HGET', holds, player)
    if list and listed(list, id) then keepList(holds, player, withoutListed(list, id)) end
  end

  local function notice(at, player, value, rank)
    local id, goal, place, time = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
    if not (goal and value >= goal or not goal and rank <= place) then
      if time > 0 then loses(player, id) end
      return
    end
    local has = redis.call('HGET', reached, player)
    if listed(has, id) then return end
    local points, rest = sign * value, ARGV[at + 6]
    if time == 0 then
      redis.call('HSET', reached, player, withListed(has, id, 0))
      owes('reward ' .. ref .. ' ' .. id .. ' ' .. player, 'reward', now + tonumber(ARGV[at + 4]), ARGV[at + 5],
        payment(player, points, rank, '', rest), player)
      return
    end
    local list = redis.call('HGET', holds, player)
    if listed(list, id) then return end
    local seq = redis.call('HINCRBY', board, 'reach_seq', 1)
    redis.call('HSET', holds, player, withListed(list, id, seq))
    owes('hold ' .. ref .. ' ' .. id .. ' ' .. seq .. ' ' .. player, 'hold', now + time, ARGV[at + 5],
      payment(player, points, rank, '"seq":' .. seq .. ',', rest), player)
  end

  noticeReach = function(player, value, rank, previous)
    for at = from + 1, #ARGV, 7 do
      notice(at, player, value, rank)
      local place = ARGV[at + 1] == '' and tonumber(ARGV[at + 2])
      local inside, was = place and rank <= place, place and previous > 0 and previous <= place
      if inside and not was and ARGV[at + 3] ~= '0' then -- somebody is pushed out
        local out = redis.call('ZREVRANGE', scores, place, place)[1]
        if out then loses(out, ARGV[at]) end
      elseif was and not inside then -- somebody moves up
        local row = redis.call('ZREVRANGE', scores, place - 1, place - 1, 'WITHSCORES')
        notice(at, row[1], math.floor(tonumber(row[2]) / span), place)
      end
    end
  end
end

local results = {}
local players = {}
local n, arg = 0, 23
for i = 1, count do
  local player, units, more = ARGV[arg + 1], tonumber(ARGV[arg + 2]), ARGV[arg + 3]
  arg = arg + 3
  local name, folded, slot, onceKey, fingerprint, heldID, answer, backdated
  if more ~= '' then
    local function given(letter)
      if not string.find(more, letter, 1, true) then return nil end
      arg = arg + 1
      return ARGV[arg]
    end
    name = given('n')
    if name then
      arg = arg + 1
      folded = ARGV[arg]
    end
    local time = given('t')
    if time then slot, answer = slotAt(tonumber(time)) end
    local asked = given('s')
    if asked then slot = tonumber(asked) end
    backdated = time or asked -- history and imports are an admin's own: they are not limited
    onceKey = given('o')
    if onceKey then
      onceKey = KEYS[tonumber(onceKey)]
      arg = arg + 1
      fingerprint = ARGV[arg]
    end
    heldID = given('h')
  end

  local kept = onceKey and keptReply(onceKey, fingerprint)
  local wait = not kept and rateKeys and not (heldID or backdated) and limited(KEYS[rateKeys + i])
  if heldID and redis.call('HEXISTS', held, heldID) == 0 then answer = 'gone' end
  if kept then
    results[n + 1] = kept
  elseif wait then
    results[n + 1] = 'limited ' .. whole(wait)
  else
    local points, improved, rank, previous, totalNow, achieved
    if not answer then
      answer, points, improved, rank, previous, totalNow, achieved =
        take(player, units, name, folded, slot, activityKeys and KEYS[activityKeys + i])
      if heldID and not answer then redis.call('HDEL', held, heldID) end
      if noticeReach and not answer then noticeReach(player, sign * points, rank, previous) end
    end
    if onceKey then
      local reply = answer or table.concat({'ok', season, decimals, whole(units), whole(points), improved, rank, previous,
        totalNow, whole(achieved)}, ' ')
      redis.call('SET', onceKey, fingerprint .. ' ' .. reply .. '\0' .. player, 'PX', keep)
    end
    if not answer then players[#players + 1] = player end
    results[n + 1] = answer or points
    results[n + 2], results[n + 3], results[n + 4], results[n + 5] = improved, rank, previous, totalNow
    results[n + 6] = achieved
  end
  for field = n + 2, n + 6 do results[field] = results[field] or 0 end
  n = n + 6
end

if #players > 0 then
  redis.call('PFADD', uniques, unpack(players))
  redis.call('PEXPIRE', uniques, uniquesKeep)
  redis.call('INCRBY', pace, #players)
  redis.call('PEXPIRE', pace, paceKeep)
end

local version
if changes > 0 then
  version = redis.call('HINCRBY', board, 'version', changes)
  publish(channel, version, season, total, rev)
else
  version = tonumber(redis.call('HGET', board, 'version'))
  if total ~= totalBefore then
    -- A new total alone is told at most once a second.
    local told = tonumber(redis.call('HGET', board, 'total_at') or '0')
    if now >= told + 1000 or now < told then
      redis.call('HSET', board, 'total_at', whole(now))
      publish(channel, version, season, total, rev)
    end
  end
end
return {'ok', version, total, batchSeen, renames, shared, results}
