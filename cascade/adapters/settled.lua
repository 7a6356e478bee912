-- Times are in milliseconds.
-- ARGV: job id, how long the job is kept from now on. The first report counts.
local job_id, keep_ms = ARGV[1], ARGV[2]
if redis.call('ZREM', key('unsettled'), job_id) == 1 then redis.call('PEXPIRE', key('job', job_id), keep_ms) end
return 1
