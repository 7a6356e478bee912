-- Times are milliseconds by the server's clock.
-- KEYS: leases (zset of open holds by expiry). ARGV: hold id, lease. Returns whether the hold is open.
local leases, hold_id, lease_ms = KEYS[1], ARGV[1], tonumber(ARGV[2])
if not redis.call('ZSCORE', leases, hold_id) then return 0 end

local time = redis.call('TIME')
local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('ZADD', leases, 'GT', now_ms + lease_ms, hold_id)
return 1
