-- lua/owed_prelude.lua stands between the prelude and the scripts after which a board owes something to the job queue.
--
-- An id is made of the cause, and what stands under it is JSON: kind, due in ms, priority, payload, and the player whom
-- it is about. A relay in every worker adds it to the queue and only then takes it out.

-- Writes down what is owed. payload is JSON; player is '' where it is about nobody.
local function owe(owed, id, kind, due, priority, payload, player)
  local about = player ~= '' and '"player":' .. cjson.encode(player) .. ',' or ''
  redis.call('HSET', owed, id, '{' .. about .. '"kind":"' .. kind .. '","due":' .. whole(due) .. ',"priority":' .. priority
    .. ',"payload":' .. payload .. '}')
end

-- Tells the relays that a board owes something. who is the board and its incarnation.
local function wakeRelays(channel, who)
  redis.call('PUBLISH', channel, who)
end

-- Lists of rewards, as text: id=number id=number. Returns the number of a reward, as text, or nil.
local function listed(list, id)
  local text = ' ' .. (list or '')
  local _, last = string.find(text, ' ' .. id .. '=', 1, true)
  return last and string.match(text, '^%d+', last + 1)
end

local function withListed(list, id, number)
  local entry = id .. '=' .. number
  return (list or '') == '' and entry or list .. ' ' .. entry
end

-- The list without a reward, '' when nothing is left.
local function withoutListed(list, id)
  local kept = {}
  for entry in string.gmatch(list or '', '[^ ]+') do
    if string.sub(entry, 1, #id + 1) ~= id .. '=' then kept[#kept + 1] = entry end
  end
  return table.concat(kept, ' ')
end

-- Puts a player's list into a hash.
local function keepList(hash, player, list)
  if list == '' then redis.call('HDEL', hash, player) else redis.call('HSET', hash, player, list) end
end

-- The payload of a payment: rest is what stands behind the player, the points and the rank.
local function payment(player, points, rank, more, rest)
  return '{"player":' .. cjson.encode(player) .. ',"points":' .. whole(points) .. ',"rank":' .. whole(rank) .. ',' .. more .. rest
end

