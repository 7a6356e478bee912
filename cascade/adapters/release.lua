-- Times are Unix milliseconds by the server's clock.
-- ARGV: job id, picture index, epoch. Returns whether there was a lease to release.
local job_id, index, epoch = ARGV[1], ARGV[2], ARGV[3]
local task = task_of(job_id, index)
if not holds(task, epoch) then return 0 end

drop_lease(task)
if cancelled(job_id) then close_as('cancelled', job_id, index) else put_back(job_id, index) end
return 1
