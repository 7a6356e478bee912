-- Times are Unix milliseconds by the server's clock. This file is put before every script of the queue.
-- KEYS[1] is the prefix of all keys, hash tag included, so every key below lies in one slot:
--   job:<id>       hash: the job and, by picture index i, picture:i; while i is open also pool:i (whose queue it waits
--                  in), lost:i and cancelled:i (its selves, should its worker die or its caller give up), losses:i
--   pool:<name>    zset of queued tasks by deadline        running:<name>  set of leased tasks
--   lease:<task>   hash: epoch, worker, pool               leases          zset of leased tasks by expiry
--   workers:<pool> zset of workers by last beat            unsettled       zset of closed jobs by closing time
--   epoch          the last epoch given                    queued, closed  channels
-- Lua never edits a picture: it chooses among the selves that Python wrote.

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

local function enqueue(job_id, index)
  local pool, deadline = unpack(redis.call('HMGET', key('job', job_id), 'pool:' .. index, 'deadline'))
  redis.call('ZADD', key('pool', pool), deadline, task_of(job_id, index))
  redis.call('PUBLISH', key('queued'), pool)
end

local function close_job(job_id)
  redis.call('ZADD', key('unsettled'), now_ms(), job_id)
  redis.call('PUBLISH', key('closed'), job_id)
end

local function close(job_id, index, picture)
  local job = key('job', job_id)
  redis.call('HSET', job, 'picture:' .. index, picture)
  redis.call('HDEL', job, 'pool:' .. index, 'lost:' .. index, 'cancelled:' .. index, 'losses:' .. index)
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
      enqueue(job_id, index)
    end
  end
end
