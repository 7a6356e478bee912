-- Times are in milliseconds.
-- ARGV: pool, worker, lease, most losses. Returns picture index, epoch and the job's hash, or nothing.
local pool, worker, lease_ms, most_losses = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
reclaim(most_losses)
local task = next_task(pool)
if not task then return false end

local job_id, index = parts_of(task)
local epoch = redis.call('INCR', key('epoch'))
redis.call('HSET', key('lease', task), 'epoch', epoch, 'worker', worker, 'pool', pool)
redis.call('ZADD', key('leases'), now_ms() + tonumber(lease_ms), task)
redis.call('SADD', key('running', pool), task)
return { index, epoch, redis.call('HGETALL', key('job', job_id)) }
