-- No times here.
-- KEYS: flight. ARGV: job id. Ends the flight only if that job leads it.
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
