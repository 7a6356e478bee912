-- Deadlines are Unix milliseconds.
-- ARGV: job id, job, deadline, then for each picture: picture, pool ('' when closed), lost self, cancelled self.
local job_id, record, deadline = ARGV[1], ARGV[2], ARGV[3]
local job = key('job', job_id)
if redis.call('EXISTS', job) == 1 then return 0 end

local size = (#ARGV - 3) / 4
redis.call('HSET', job, 'job', record, 'deadline', deadline, 'size', size, 'open', 0)
for index = 0, size - 1 do
  local picture, pool, lost, gave_up = unpack(ARGV, 4 + index * 4, 7 + index * 4)
  redis.call('HSET', job, 'picture:' .. index, picture)
  if pool ~= '' then
    redis.call('HSET', job, 'pool:' .. index, pool, 'lost:' .. index, lost, 'cancelled:' .. index, gave_up)
    redis.call('HINCRBY', job, 'open', 1)
    enqueue(job_id, index)
  end
end
if redis.call('HGET', job, 'open') == '0' then close_job(job_id) end
return 1
