-- Times are Unix milliseconds by the server's clock.
-- ARGV: job id. Closes what waits in a queue or with a dead worker; who runs the rest learns of it by renewing.
local job_id = ARGV[1]
local job = key('job', job_id)
if redis.call('HGET', job, 'open') == '0' or redis.call('EXISTS', job) == 0 then return 0 end

redis.call('HSET', job, 'cancelled', 1)
for index = 0, tonumber(redis.call('HGET', job, 'size')) - 1 do
  local pool = redis.call('HGET', job, 'pool:' .. index)
  local task = task_of(job_id, index)
  local expiry = redis.call('ZSCORE', key('leases'), task)
  if expiry and tonumber(expiry) <= now_ms() then
    drop_lease(task)
    expiry = false
  end
  if pool and not expiry then
    dequeue(pool, job_id, index)
    close_as('cancelled', job_id, index)
  end
end
return 1
