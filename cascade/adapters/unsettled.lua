-- Times are Unix milliseconds by the server's clock.
-- ARGV: limit, most losses. Reclaims first, so that a job closes even when no worker is left to ask for work.
local limit, most_losses = tonumber(ARGV[1]), ARGV[2]
reclaim(most_losses)
return redis.call('ZRANGE', key('unsettled'), 0, limit - 1)
