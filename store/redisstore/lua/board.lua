-- lua/board.lua reads a board and its running season.
--
-- KEYS[1]  board    hash: settings, rev, epoch, version, season
-- KEYS[2]  seasons  hash: number -> record
-- KEYS[3]  scores   sorted set of the season that the caller takes for the running one
--
-- ARGV[1]  time in ms, or ''
-- ARGV[2]  number of that season
--
-- Returns {time} when there is no such board, or {time, settings, rev, epoch, version, season, record, total}. total is
-- false when another season runs: the caller asks again.
local board, seasons, scores = KEYS[1], KEYS[2], KEYS[3]
local believed = ARGV[2]

local now = whole(clock(ARGV[1]))
local found = redis.call('HMGET', board, 'settings', 'rev', 'epoch', 'version', 'season')
if not found[2] then return {now} end
local record = redis.call('HGET', seasons, found[5])
local total = found[5] == believed and redis.call('ZCARD', scores)
return {now, found[1], found[2], found[3], found[4], found[5], record, total}
