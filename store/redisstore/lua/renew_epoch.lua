-- lua/renew_epoch.lua gives a board another epoch: its versions may be those of states that were lost.
--
-- KEYS[1]  board  hash: rev, epoch
--
-- ARGV[1]  epoch
--
-- Returns 1, or 0 when there is no such board.
local board = KEYS[1]

if redis.call('EXISTS', board) == 0 then return 0 end
redis.call('HSET', board, 'epoch', ARGV[1])
redis.call('HINCRBY', board, 'rev', 1)
return 1
