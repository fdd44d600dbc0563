-- lua/audit.lua appends an admin's act, and drops a few that are too old or too many.
--
-- KEYS[1]  log  sorted set: sequence and act, by time
-- KEYS[2]  seq  counter
--
-- ARGV[1]  time in ms, or ''    ARGV[3]  ms to keep acts
-- ARGV[2]  act, JSON            ARGV[4]  most acts to keep
--
-- Returns the act's sequence.
local log, seq = KEYS[1], KEYS[2]
local act, keep, most = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local dropAtOnce = 100

local now = clock(ARGV[1])
local number = redis.call('INCR', seq)
redis.call('ZADD', log, whole(now), string.format('%016.0f', number) .. act)

local old = redis.call('ZRANGEBYSCORE', log, '-inf', whole(now - keep), 'LIMIT', 0, dropAtOnce)
if #old > 0 then redis.call('ZREM', log, unpack(old)) end
local beyond = math.min(redis.call('ZCARD', log) - most, dropAtOnce)
if beyond > 0 then redis.call('ZREMRANGEBYRANK', log, 0, beyond - 1) end
return number
