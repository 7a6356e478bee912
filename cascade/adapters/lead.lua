-- Times are in milliseconds.
-- KEYS: flight. ARGV: job id, lease. Returns the leader's job id; a leader who asks again keeps the lead for longer.
local flight, job_id, lease_ms = KEYS[1], ARGV[1], ARGV[2]
local leader = redis.call('GET', flight)
if leader and leader ~= job_id then return leader end

redis.call('SET', flight, job_id, 'PX', lease_ms)
return job_id
