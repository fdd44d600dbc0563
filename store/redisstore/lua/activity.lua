-- lua/activity.lua reads a player's latest activity.
--
-- KEYS[1]  board     hash: rev
-- KEYS[2]  scores    sorted set of the running season
-- KEYS[3]  names     hash: player -> name
-- KEYS[4]  activity  list, newest first
-- KEYS[5]  bans      hash: banned player -> why
--
-- ARGV[1]  rev
-- ARGV[2]  player
-- ARGV[3]  most entries
--
-- Returns {'moved'}, {'none'} for a player that the board does not know or that is banned, or {'ok', entry, …}. An
-- entry is AT KIND DECIMALS POINTS PREVIOUS_POINTS RANK PREVIOUS_RANK, where previous points may be missing.
local board, scores, names, activity, bans = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local rev, player, most = ARGV[1], ARGV[2], tonumber(ARGV[3])

if redis.call('HGET', board, 'rev') ~= rev then return {'moved'} end
if redis.call('HEXISTS', bans, player) == 1 then return {'none'} end
local entries = redis.call('LRANGE', activity, 0, most - 1)
if #entries == 0 and not redis.call('ZSCORE', scores, player) and redis.call('HEXISTS', names, player) == 0 then
  return {'none'}
end
return {'ok', unpack(entries)}
