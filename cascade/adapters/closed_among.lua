-- No times here.
-- ARGV: job ids. Returns those that are closed or unknown, so that one call looks for all who wait.
local found = {}
for _, job_id in ipairs(ARGV) do
  local open = redis.call('HGET', key('job', job_id), 'open')
  if not open or open == '0' then found[#found + 1] = job_id end
end
return found
