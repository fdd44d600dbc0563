-- lua/delete.lua removes a board's own keys at once. Redis frees large sets in a thread of its own.
--
-- KEYS[1]  board  hash: rev, version, season
-- KEYS[2…] everything else of the board
--
-- ARGV[1]  rev
-- ARGV[2]  channel
--
-- Returns {'moved'} or {'ok'}.
local board = KEYS[1]

if redis.call('HGET', board, 'rev') ~= ARGV[1] then return {'moved'} end
local was = redis.call('HMGET', board, 'version', 'season')
for i = 1, #KEYS do redis.call('UNLINK', KEYS[i]) end
publish(ARGV[2], tonumber(was[1]) + 1, was[2], 0, tonumber(ARGV[1]) + 1)
return {'ok'}
