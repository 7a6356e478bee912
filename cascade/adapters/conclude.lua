-- Times are Unix milliseconds by the server's clock. The one fenced write of a worker.
-- ARGV: job id, picture index, epoch, picture, next pool ('' when closed), its predicted GPU-ms, lost self, cancelled self.
-- Returns the job's hash, or nothing when the lease is stale.
local job_id, index, epoch, picture, pool, work, lost, gave_up = unpack(ARGV)
local task = task_of(job_id, index)
if not holds(task, epoch) then return false end

local job = key('job', job_id)
drop_lease(task)
if pool == '' then
  close(job_id, index, picture)
elseif cancelled(job_id) then
  close(job_id, index, gave_up)
else
  redis.call('HSET', job, 'picture:' .. index, picture, 'pool:' .. index, pool, 'work:' .. index, work)
  redis.call('HSET', job, 'lost:' .. index, lost, 'cancelled:' .. index, gave_up)
  enqueue(job_id, index)
end
return redis.call('HGETALL', job)
