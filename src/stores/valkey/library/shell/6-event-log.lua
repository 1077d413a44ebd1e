-- The event log: read and trimmed past the kernel.

-- keys: the prefix of the partition's keys. args: behind which event to begin, and how many to read at most. Answers how
-- many were trimmed ever, how many are there, and the events.
local function readEvents(keys, args)
  local key = keys[1] .. 'events'
  local trimmed, count = tonumber(redis.call('GET', keys[1] .. 'trimmed') or 0), redis.call('LLEN', key)
  local first = math.max(0, tonumber(args[1]) - trimmed)
  local reply = { trimmed, count }
  if first >= count then return reply end
  local found = redis.call('LRANGE', key, first, first + tonumber(args[2]) - 1)
  for i = 1, #found do reply[i + 2] = found[i] end
  return reply
end

-- When an event was, which stands behind the byte of its type.
local function timeOf(bytes)
  return (struct.unpack('<I6', bytes, 2))
end

-- keys: the prefix of the partition's keys. args: the instant before which events are too old, how many to keep at most,
-- and how many to remove at most. Answers how many were removed. Times rise from event to event as far as clocks do.
local function trimEvents(keys, args)
  local key = keys[1] .. 'events'
  local olderThan, count = tonumber(args[1]), redis.call('LLEN', key)
  local low, high = math.max(0, count - tonumber(args[2])), count
  if low < count and timeOf(redis.call('LINDEX', key, low)) >= olderThan then high = low end
  while low < high do
    local middle = math.floor((low + high) / 2)
    if timeOf(redis.call('LINDEX', key, middle)) < olderThan then low = middle + 1 else high = middle end
  end
  local removed = math.min(low, tonumber(args[3]))
  if removed > 0 then
    redis.call('LTRIM', key, removed, -1)
    redis.call('INCRBY', keys[1] .. 'trimmed', removed)
  end
  return removed
end

return { run = run, readEvents = readEvents, trimEvents = trimEvents }
