-- Times are Unix milliseconds.
-- KEYS: tenant (hash), key (hash), the tenant's keys (zset by creation). ARGV: hash, tenant id, hint, label, creation.
-- Returns whether there is such a tenant. A key that is there already stays as it is.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if redis.call('EXISTS', KEYS[2]) == 1 then return 1 end

redis.call('HSET', KEYS[2], 'tenant', ARGV[2], 'hint', ARGV[3], 'label', ARGV[4], 'created_ms', ARGV[5])
redis.call('ZADD', KEYS[3], ARGV[5], ARGV[1])
return 1
