-- lua/payment.lua notes on the board that a player receives a reward, or tells why they do not. It may run again.
--
-- KEYS[1]  board     hash: rev
-- KEYS[2]  seasons   hash: number -> record
-- KEYS[3]  scores    sorted set of the season that it was won in
-- KEYS[4]  bans      hash: banned player -> why
-- KEYS[5]  activity  list of the player
--
-- ARGV[1]  rev                        ARGV[4]  number of the season
-- ARGV[2]  time in ms, or ''          ARGV[5]  activity cap
-- ARGV[3]  player                     ARGV[6]  the entry behind its time
-- ARGV[7]  the last word of the entry, which no other reward has
--
-- Returns {'moved'}, {'banned'}, {'gone'} when they are no longer on the board, or {'ok'}.
local board, seasons, scores, bans, activity = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local rev, player, season, cap = ARGV[1], ARGV[3], ARGV[4], tonumber(ARGV[5])
local entry, mark = ARGV[6], ' ' .. ARGV[7]
local keep = 30 * 24 * 3600 * 1000

if redis.call('HGET', board, 'rev') ~= rev then return {'moved'} end
if redis.call('HEXISTS', bans, player) == 1 then return {'banned'} end
if redis.call('HEXISTS', seasons, season) == 1 and not redis.call('ZSCORE', scores, player) then return {'gone'} end
if cap == 0 then return {'ok'} end
for _, there in ipairs(redis.call('LRANGE', activity, 0, -1)) do
  if string.sub(there, -#mark) == mark then return {'ok'} end
end
redis.call('LPUSH', activity, whole(clock(ARGV[2])) .. entry)
redis.call('LTRIM', activity, 0, cap - 1)
redis.call('PEXPIRE', activity, keep)
return {'ok'}
