-- lua/hold.lua looks whether what a player reached is still true after its time. If so, the board owes the reward.
--
-- KEYS[1]  board    hash: rev, season
-- KEYS[2]  scores   sorted set of the season
-- KEYS[3]  holds    hash: player -> what they hold: reward and the number of the time that it was reached
-- KEYS[4]  reached  hash: player -> rewards that they have
-- KEYS[5]  owed     hash
--
-- ARGV[1]  rev                        ARGV[9]  points to reach, packed like a score of the last slot, or ''
-- ARGV[2]  time in ms, or ''          ARGV[10] place to reach
-- ARGV[3]  end in ms, or ''           ARGV[11] 2^T
-- ARGV[4]  channel of the relays      ARGV[12] 1, or -1 if low is better
-- ARGV[5]  board and incarnation      ARGV[13] ms until it is due
-- ARGV[6]  player                     ARGV[14] priority
-- ARGV[7]  reward                     ARGV[15] id under which it is owed
-- ARGV[8]  number of the time         ARGV[16] rest of the payment, JSON
--
-- Returns {'moved'}, {'over'}, {'lost'} when the player does not hold it any more, or {'ok'}.
local board, scores, holds, reached, owed = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local rev, ends, channel, who, player, reward, seq = ARGV[1], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local goal, place, span, sign, delay = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13])

local now = clock(ARGV[2])
local why = stale(board, rev, ends, now)
if why then return {why} end
local list = redis.call('HGET', holds, player) or ''
if listed(list, reward) ~= seq then return {'lost'} end
keepList(holds, player, withoutListed(list, reward))

local packed = tonumber(redis.call('ZSCORE', scores, player) or '')
local rank = packed and redis.call('ZREVRANK', scores, player) + 1
local holding = packed and (goal and packed >= goal or not goal and rank <= place)
if not holding then return {'lost'} end
redis.call('HSET', reached, player, withListed(redis.call('HGET', reached, player), reward, 0))
owe(owed, ARGV[15], 'reward', now + delay, ARGV[14],
  payment(player, sign * math.floor(packed / span), rank, '', ARGV[16]), player)
wakeRelays(channel, who)
return {'ok'}
