-- Amounts are whole GPU-milliseconds, times are milliseconds.
-- KEYS: budget (hash), hold (hash), leases (zset of open holds by expiry).
-- ARGV: hold id, amount that ran, how long the settled hold is remembered. Returns what the first call charged.
local budget, hold, leases = KEYS[1], KEYS[2], KEYS[3]
local hold_id, ran, keep_ms = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local amount, charged = unpack(redis.call('HMGET', hold, 'amount', 'charged'))
if not amount then return 0 end
if charged then return tonumber(charged) end

local charge = math.min(ran, tonumber(amount))
redis.call('HINCRBY', budget, 'used', charge)
redis.call('HINCRBY', budget, 'held', 0 - tonumber(amount)) -- not -x: minus zero is no integer to Redis
redis.call('HINCRBY', budget, 'overrun', ran - charge)
redis.call('HSET', hold, 'charged', charge)
redis.call('PEXPIRE', hold, keep_ms)
redis.call('ZREM', leases, hold_id)
return charge
