-- Times are in milliseconds.
-- ARGV: job id, picture index, epoch, lease. Returns 'stale', 'held' or 'cancelled'.
local job_id, index, epoch, lease_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local task = task_of(job_id, index)
if not holds(task, epoch) then return 'stale' end

redis.call('ZADD', key('leases'), now_ms() + tonumber(lease_ms), task)
return cancelled(job_id) and 'cancelled' or 'held'
