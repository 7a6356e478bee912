-- No times here.
-- KEYS: tenant (hash), ids (zset, all scores 0: ordered by id). ARGV: id, name, suspended. Returns whether it is new.
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end

redis.call('HSET', KEYS[1], 'name', ARGV[2], 'suspended', ARGV[3])
redis.call('ZADD', KEYS[2], 0, ARGV[1])
return 1
