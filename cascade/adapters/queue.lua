-- Times are Unix milliseconds by the server's clock. This file is put before every script of the queue.
-- KEYS[1] is the prefix of all keys, hash tag included, so every key below lies in one slot:
--   job:<id>       hash: the job, its tenant and weight and, by picture index i, picture:i; while i is open also pool:i
--                  (whose queue it waits in), work:i (its stage's predicted GPU-ms), lost:i and cancelled:i (its selves,
--                  should its worker die or its caller give up), losses:i
--   pool:<name>    zset of tenants with queued tasks by where they start in the pool's virtual time
--   waiting:<pool>:<tenant>  zset of queued tasks by deadline
--   virtual:<name> the pool's virtual time                 finish:<name>   zset of tenants by where their last work ended
--   depth:<name>   how many tasks are queued               running:<name>  set of leased tasks
--   lease:<task>   hash: epoch, worker, pool               leases          zset of leased tasks by expiry
--   workers:<pool> zset of workers by last beat            unsettled       zset of closed jobs by closing time
--   epoch          the last epoch given                    queued, closed  channels
-- Lua never edits a picture: it chooses among the selves that Python wrote. Who is served next is `cascade.fairness`.

local function key(kind, name)
  if name then return KEYS[1] .. kind .. ':' .. name end
  return KEYS[1] .. kind
end

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function task_of(job_id, index)
  return job_id .. string.format(':%04d', index)
end

local function parts_of(task)
  local job_id, index = string.match(task, '^(.*):(%d+)$')
  return job_id, tonumber(index)
end

local function waiting(pool, tenant)
  return key('waiting', pool .. ':' .. tenant)
end

-- Virtual ticks: `cascade.fairness.ticks`.
local function ticks(work, weight)
  return math.max(1, math.floor(tonumber(work) * 1000 / tonumber(weight)))
end

local function whole(number)
  return string.format('%d', number)
end

local function enqueue(job_id, index)
  local pool, tenant, deadline =
    unpack(redis.call('HMGET', key('job', job_id), 'pool:' .. index, 'tenant', 'deadline'))
  if not redis.call('ZSCORE', key('pool', pool), tenant) then
    local now = tonumber(redis.call('GET', key('virtual', pool)) or 0)
    local finish = tonumber(redis.call('ZSCORE', key('finish', pool), tenant) or 0)
    redis.call('ZADD', key('pool', pool), whole(math.max(now, finish)), tenant)
  end
  redis.call('INCRBY', key('depth', pool), redis.call('ZADD', waiting(pool, tenant), deadline, task_of(job_id, index)))
  redis.call('PUBLISH', key('queued'), pool)
end

-- Queue a task again that was served for nothing: its tenant has not had the work.
local function put_back(job_id, index)
  local pool, tenant, work, weight =
    unpack(redis.call('HMGET', key('job', job_id), 'pool:' .. index, 'tenant', 'work:' .. index, 'weight'))
  local given = ticks(work, weight)
  if redis.call('ZSCORE', key('finish', pool), tenant) then
    redis.call('ZINCRBY', key('finish', pool), whole(-given), tenant)
  end
  local start = redis.call('ZSCORE', key('pool', pool), tenant)
  if start then
    local now = tonumber(redis.call('GET', key('virtual', pool)) or 0)
    redis.call('ZADD', key('pool', pool), whole(math.max(now, tonumber(start) - given)), tenant)
  end
  enqueue(job_id, index)
end

local function dequeue(pool, job_id, index)
  local tenant = redis.call('HGET', key('job', job_id), 'tenant')
  redis.call('DECRBY', key('depth', pool), redis.call('ZREM', waiting(pool, tenant), task_of(job_id, index)))
  if redis.call('EXISTS', waiting(pool, tenant)) == 0 then redis.call('ZREM', key('pool', pool), tenant) end
end

-- The earliest deadline of the tenant that starts earliest, or nothing.
local function next_task(pool)
  local tenant, start = unpack(redis.call('ZRANGE', key('pool', pool), 0, 0, 'WITHSCORES'))
  if not tenant then return false end
  local task = redis.call('ZPOPMIN', waiting(pool, tenant))[1]
  local job_id, index = string.match(task, '^(.*):(%d+)$')
  local work, weight = unpack(redis.call('HMGET', key('job', job_id), 'work:' .. tonumber(index), 'weight'))
  local finish = whole(tonumber(start) + ticks(work, weight))
  redis.call('DECR', key('depth', pool))
  redis.call('SET', key('virtual', pool), start)
  redis.call('ZADD', key('finish', pool), finish, tenant)
  redis.call('ZREMRANGEBYSCORE', key('finish', pool), '-inf', '(' .. start) -- no later than now says nothing
  if redis.call('EXISTS', waiting(pool, tenant)) == 1 then
    redis.call('ZADD', key('pool', pool), finish, tenant)
  else
    redis.call('ZREM', key('pool', pool), tenant)
  end
  return task
end

local function close_job(job_id)
  redis.call('ZADD', key('unsettled'), now_ms(), job_id)
  redis.call('PUBLISH', key('closed'), job_id)
end

local function close(job_id, index, picture)
  local job = key('job', job_id)
  redis.call('HSET', job, 'picture:' .. index, picture)
  redis.call('HDEL', job, 'pool:' .. index, 'work:' .. index, 'lost:' .. index, 'cancelled:' .. index, 'losses:' .. index)
  if redis.call('HINCRBY', job, 'open', -1) == 0 then close_job(job_id) end
end

local function cancelled(job_id)
  return redis.call('HEXISTS', key('job', job_id), 'cancelled') == 1
end

local function close_as(self, job_id, index)
  close(job_id, index, redis.call('HGET', key('job', job_id), self .. ':' .. index))
end

-- Whether the lease of `task` is the one with `epoch` and has not run out.
local function holds(task, epoch)
  local expiry = redis.call('ZSCORE', key('leases'), task)
  return expiry and tonumber(expiry) > now_ms() and redis.call('HGET', key('lease', task), 'epoch') == epoch
end

local function drop_lease(task)
  redis.call('SREM', key('running', redis.call('HGET', key('lease', task), 'pool')), task)
  redis.call('ZREM', key('leases'), task)
  redis.call('DEL', key('lease', task))
end

-- Give back what dead workers held: to its queue, or closed if nobody wants it or too many workers died of it.
local function reclaim(most_losses)
  for _, task in ipairs(redis.call('ZRANGEBYSCORE', key('leases'), '-inf', now_ms(), 'LIMIT', 0, 100)) do
    drop_lease(task)
    local job_id, index = parts_of(task)
    if cancelled(job_id) then
      close_as('cancelled', job_id, index)
    elseif redis.call('HINCRBY', key('job', job_id), 'losses:' .. index, 1) > tonumber(most_losses) then
      close_as('lost', job_id, index)
    else
      put_back(job_id, index)
    end
  end
end
