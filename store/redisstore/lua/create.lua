-- lua/create.lua writes a board that did not exist.
--
-- KEYS[1]  board    hash
-- KEYS[2]  seasons  hash: number -> record
--
-- ARGV[1]  settings, JSON
-- ARGV[2]  epoch
-- ARGV[3]  record of the first season, JSON
--
-- Returns 1, or 0 when the board was there.
local board, seasons = KEYS[1], KEYS[2]

if redis.call('EXISTS', board) == 1 then return 0 end
redis.call('HSET', board, 'settings', ARGV[1], 'rev', 1, 'epoch', ARGV[2], 'version', 0, 'season', 1)
redis.call('HSET', seasons, 1, ARGV[3])
return 1
