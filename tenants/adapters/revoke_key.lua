-- No times here.
-- KEYS: key (hash), its tenant's keys (zset). ARGV: hash. Returns whether the key was there.
redis.call('ZREM', KEYS[2], ARGV[1])
return redis.call('DEL', KEYS[1])
