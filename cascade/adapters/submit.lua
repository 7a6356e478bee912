-- Deadlines are Unix milliseconds.
-- ARGV: job id, job, deadline, tenant, weight, then for each picture: picture, pool ('' when closed), predicted GPU-ms,
-- lost self, cancelled self.
local job_id, record, deadline, tenant, weight = unpack(ARGV, 1, 5)
local job = key('job', job_id)
if redis.call('EXISTS', job) == 1 then return 0 end

local size = (#ARGV - 5) / 5
redis.call('HSET', job, 'job', record, 'deadline', deadline, 'size', size, 'open', 0)
redis.call('HSET', job, 'tenant', tenant, 'weight', weight)
for index = 0, size - 1 do
  local picture, pool, work, lost, gave_up = unpack(ARGV, 6 + index * 5, 10 + index * 5)
  redis.call('HSET', job, 'picture:' .. index, picture)
  if pool ~= '' then
    redis.call('HSET', job, 'pool:' .. index, pool, 'work:' .. index, work)
    redis.call('HSET', job, 'lost:' .. index, lost, 'cancelled:' .. index, gave_up)
    redis.call('HINCRBY', job, 'open', 1)
    enqueue(job_id, index)
  end
end
if redis.call('HGET', job, 'open') == '0' then close_job(job_id) end
return 1
