-- No times here.
-- KEYS: tenant (hash). ARGV: suspended. Returns whether there is such a tenant.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end

redis.call('HSET', KEYS[1], 'suspended', ARGV[1])
return 1
