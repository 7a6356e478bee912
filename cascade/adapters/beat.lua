-- Times are in milliseconds.
-- ARGV: pool, worker, how long a beat is valid. Forgets workers that fell silent.
local pool, worker, valid_ms = ARGV[1], ARGV[2], tonumber(ARGV[3])
local workers = key('workers', pool)
redis.call('ZADD', workers, now_ms(), worker)
redis.call('ZREMRANGEBYSCORE', workers, '-inf', now_ms() - valid_ms)
return 1
