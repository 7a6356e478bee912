-- Times are in milliseconds.
-- ARGV: how long a beat is valid, most losses, then pools. Returns queued, running and workers of each.
local valid_ms, most_losses = tonumber(ARGV[1]), ARGV[2]
reclaim(most_losses)
local states = {}
for place = 3, #ARGV do
  local pool = ARGV[place]
  local alive = redis.call('ZRANGEBYSCORE', key('workers', pool), '(' .. string.format('%d', now_ms() - valid_ms), '+inf')
  table.sort(alive)
  local queued = tonumber(redis.call('GET', key('depth', pool)) or 0)
  states[#states + 1] = { queued, redis.call('SCARD', key('running', pool)), alive }
end
return states
