-- Amounts are whole GPU-milliseconds, times are milliseconds by the server's clock.
-- KEYS: budget (hash), hold (hash), leases (zset of open holds by expiry). ARGV: hold id, amount, lease.
-- Returns a verdict and limit, used, held, overrun as they are afterwards.
local budget, hold, leases = KEYS[1], KEYS[2], KEYS[3]
local hold_id, amount, lease_ms = ARGV[1], ARGV[2], tonumber(ARGV[3])
-- The index of all tenants lies in another slot and must know this one before its first hold exists.
if redis.call('HEXISTS', budget, 'indexed') == 0 then return { 'unindexed' } end

local books = redis.call('HMGET', budget, 'limit', 'used', 'held', 'overrun')
local function number(place) return tonumber(books[place] or 0) end
local function answer(verdict) return { verdict, books[1] or '0', books[2] or '0', books[3] or '0', books[4] or '0' } end

if redis.call('EXISTS', hold) == 1 then return answer('held') end
if tonumber(amount) > number(1) - number(2) - number(3) then return answer('refused') end

local time = redis.call('TIME')
local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('HSET', hold, 'amount', amount)
redis.call('ZADD', leases, now_ms + lease_ms, hold_id)
redis.call('HINCRBY', budget, 'held', amount)
books = redis.call('HMGET', budget, 'limit', 'used', 'held', 'overrun')
return answer('held')
