-- lua/prelude.lua stands before every script: the clock, whole numbers, and whether the caller knows the board as it is.

-- Milliseconds since 1970: the time handed in, where a test owns the clock, or Redis' own.
local function clock(given)
  if given ~= '' then return tonumber(given) end
  local t = redis.call('TIME')
  return tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
end

-- A whole number as text, all digits of it: Lua itself prints fourteen. %d takes a third of the time of %.0f, but goes
-- through a long of C, which some machines have with 32 bits.
local exact = string.format('%d', 4503599627370497) == '4503599627370497' and '%d' or '%.0f'
local function whole(n)
  return string.format(exact, n)
end

-- Why the caller must not go on: 'moved' when the board changed or is gone, 'over' when its season has ended, nil
-- otherwise. ends is '' for a season without an end, and for a closed one.
local function stale(board, rev, ends, now)
  if redis.call('HGET', board, 'rev') ~= rev then return 'moved' end
  if ends ~= '' and now >= tonumber(ends) then return 'over' end
end

-- Tells the watchers what the board is at now.
local function publish(channel, version, season, total, rev)
  redis.call('PUBLISH', channel, version .. ' ' .. season .. ' ' .. total .. ' ' .. rev)
end

-- Names of the players in a reply of ZREVRANGE … WITHSCORES, in its order; false where there is none.
local function namesOf(names, rows)
  if #rows == 0 then return {} end
  local players = {}
  for i = 1, #rows, 2 do players[#players + 1] = rows[i] end
  return redis.call('HMGET', names, unpack(players))
end

-- Place that a packed score shares with all of equal points: one behind those with better points.
local function sharedRank(scores, packed, span)
  local top = (math.floor(packed / span) + 1) * span - 1
  return redis.call('ZCOUNT', scores, '(' .. whole(top), '+inf') + 1
end

-- The two-window estimate: what was counted in the window before fades evenly while the present one runs. Returns how
-- many more there is room for, and the milliseconds until there is room for one. Division comes last: a fraction
-- that is a little off would refuse one who waited as long as told.
local function estimate(before, present, elapsed, window, limit)
  local room = math.floor(limit - present - before * (window - elapsed) / window)
  if room >= 1 then return room, 0 end
  if present + 1 <= limit then
    return 0, math.ceil(window * (before - (limit - present - 1)) / before) - elapsed
  end
  return 0, window - elapsed + math.ceil(window * (present - (limit - 1)) / present)
end

