-- lua/update.lua changes a board's settings, and its running season where they decide it.
--
-- KEYS[1]  board    hash: settings, rev, version, season
-- KEYS[2]  seasons  hash: number -> record
-- KEYS[3]  scores   sorted set of the running season
-- KEYS[4]  banned   sorted set of the running season
-- KEYS[5]  bans     hash: banned player -> why
--
-- ARGV[1]  rev                    ARGV[4]  settings, JSON
-- ARGV[2]  time in ms, or ''      ARGV[5]  record of the running season, JSON, or '' to leave it
-- ARGV[3]  end in ms, or ''       ARGV[6]  1 when nobody may have a score or a ban
-- ARGV[7]  channel
--
-- Returns {'moved'}, {'over'}, {'in_use'}, or {'ok'}.
local board, seasons, scores, banned, bans = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local rev, ends, settings, record, unused, channel = ARGV[1], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]

local why = stale(board, rev, ends, clock(ARGV[2]))
if why then return {why} end
local total = redis.call('ZCARD', scores)
if unused == '1' and (total > 0 or redis.call('ZCARD', banned) > 0 or redis.call('HLEN', bans) > 0) then
  return {'in_use'}
end
local now = redis.call('HMGET', board, 'version', 'season')
redis.call('HSET', board, 'settings', settings)
if record ~= '' then redis.call('HSET', seasons, now[2], record) end
publish(channel, now[1], now[2], total, redis.call('HINCRBY', board, 'rev', 1))
return {'ok'}
