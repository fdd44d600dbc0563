-- lua/job_release.lua hands deliveries back that have neither worked out nor failed: they do not count.
--
-- ARGV[3]  ms to wait, or '' to be ready as before
-- ARGV[4…] pairs of id and token
--
-- Returns {'ok', number, …} with the numbers of the pairs whose token is not the newest: they are left alone.
local pause = ARGV[3]
local ids, stale, toReady, toScheduled, done, members = {}, {}, {}, {}, {}, {}
for i = 4, #ARGV, 2 do ids[#ids + 1] = ARGV[i] end
local newest = fields(tokens, ids)
for i, id in ipairs(ids) do
  local token = newest[i]
  if token and token == ARGV[2 * i + 3] then
    local place = placeOf(token)
    local due = tonumber(string.match(token, '^ (%d+) ', 18))
    members[#members + 1] = place .. id
    done[#done + 1] = id
    local to = pause == '' and toReady or toScheduled
    to[#to + 1] = whole(pause == '' and span(place) + due or now + tonumber(pause))
    to[#to + 1] = place .. id
  else
    stale[#stale + 1] = i
  end
end
wait(toReady, toScheduled)
call('ZREM', running, members)
call('HDEL', tokens, done)
for _, id in ipairs(done) do redis.call('HINCRBY', deliveries, id, -1) end
count('stale', #stale)
return {'ok', unpack(stale)}
