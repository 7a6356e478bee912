-- Times are Unix milliseconds by the server's clock.
-- ARGV: pool. Returns 1 when `take` may find something: a queued picture, or a lease that ran out.
if redis.call('ZCARD', key('pool', ARGV[1])) > 0 then return 1 end
return redis.call('ZCOUNT', key('leases'), '-inf', now_ms()) > 0 and 1 or 0
