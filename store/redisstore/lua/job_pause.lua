-- lua/job_pause.lua stops the queue, or lets it go on. What runs is finished either way.
--
-- ARGV[3]  '1' to stop it
--
-- Returns {'ok'}.
if ARGV[3] == '1' then
  redis.call('HSET', meta, 'paused', whole(now))
elseif redis.call('HDEL', meta, 'paused') == 1 then
  redis.call('PUBLISH', wake, '')
end
return {'ok'}
