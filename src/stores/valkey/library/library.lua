-- The server side of the store: loads a snapshot, and commits grouped writes under conditions. A record is a value
-- with a version in front, whose body is never read here; an index is a sorted set, a blob a plain value, the event log a
-- list. KEYS are the prefix of the partition's keys and that of its channels. Nothing is stored under either, so a server
-- that is handing the partition over refuses a call before it runs.
local RESERVED_MS, RESERVED_MAX = 20, 10000
local LOCK_MS, LOCK_MAX_MS, WAITER_MS, LOCKS_MAX, WAITERS_MAX, BUSY_MAX_MS = 250, 1000, 20, 1000, 256, 5
-- The arguments of a command stand on the stack of Lua, which holds 8,000. Even, so that pairs stay together.
local CHUNK = 6000
local VERSION_BYTES, EXPECTED_BYTES, COUNTS_BYTES, INDEX_BYTES, TIME_BYTES, TYPE_AT = 8, 12, 24, 8, 6, 8
-- The marks of indexes that wake listeners: when an earlier first entry appears, and when the index was empty.
local FIRST, READY = 1, 2
-- Stands for the lag of a caller whose own clock went back: events are as old as it says.
local CLOCK_BACK = 'back'
local EVENTS, TRIMMED, APPLIED, LOCKED, LOCK_LOST, CLOCK, LEVEL, NONE, INF = 'events5', 'trimmed5', 0, 1, 2, 3, 4, {}, 1 / 0

-- Globals are not visible while a library loads, so the first call binds them.
local call, byte, sub, find, unpack, tonumber, type, min, max, floor, read
local function bind()
  if call then return end
  call, byte, sub, unpack, tonumber, type = redis.call, string.byte, string.sub, _G.unpack, _G.tonumber, _G.type
  min, max, floor, read, find = math.min, math.max, math.floor, struct.unpack, string.find
end

local function refuse(reason) error({ err = 'ERR malformed arguments: ' .. reason }) end

local function countOf(text)
  local count = tonumber(text)
  if not count or count < 0 or count ~= floor(count) then refuse('not a count') end
  return count
end

local function serverTime()
  local time = call('TIME')
  return time[1] * 1000 + floor(time[2] / 1000)
end

-- Runs a command over a part of a list, in pieces that fit the stack. Joins replies that are lists; else returns the largest.
local function onEach(command, key, list, first, last)
  local all = NONE
  for at = first, last, CHUNK do
    local reply = call(command, key or list[at], unpack(list, key and at or at + 1, min(last, at + CHUNK - 1)))
    if at == first then all = reply
    elseif type(all) == 'number' then all = max(all, reply)
    else for i = 1, #reply do all[#all + 1] = reply[i] end end
  end
  return all
end

local function entriesOf(key, first, count, isReverse)
  if count == 0 then return NONE end
  return call(isReverse and 'ZREVRANGE' or 'ZRANGE', key, first, first + count - 1, 'WITHSCORES')
end

-- Counts the entries up to a score.
local function countTo(key, score, isReverse)
  return isReverse and call('ZCOUNT', key, score, '+inf') or call('ZCOUNT', key, '-inf', score)
end

-- Reservations keep concurrent claims apart; losing them costs speed only. By index key and id: the load that made
-- them. A new generation begins when the younger one has the age of a reservation or is half full; the older one is dropped.
local young, old, youngSince, youngCount = {}, {}, 0, 0
-- The key, no valid id, under which a table of reservations counts its ids.
local SIZE = 1
-- Marks a released reservation: until its generation is dropped, the entry cannot be reserved again. So successive claims
-- that skip a due record do not hide it from the due pass.
local FREE = { by = '', till = 0 }

local function unreserve(key, ids, first, last, step, isGivenBack)
  local reserved, older = young[key] or NONE, old[key] or NONE
  if reserved == NONE and older == NONE then return end
  for i = first, last, step do
    local id = ids[i]
    local place = reserved[id] and reserved or older[id] and older
    if place and isGivenBack then place[id] = FREE
    elseif place then place[id], place[SIZE] = nil, place[SIZE] - 1 end
    if place == reserved and older[id] then older[id], older[SIZE] = nil, older[SIZE] - 1 end
  end
end

-- Returns the first entries of an index, up to and including the first one past a score.
local function headOf(key, limit, to)
  if to < INF and limit > 0 then
    -- Most of the time nothing is due, so one command is enough.
    local first = entriesOf(key, 0, 1)
    if #first == 0 or tonumber(first[2]) > to then return first end
    limit = min(limit, countTo(key, to) + 1)
  end
  return entriesOf(key, 0, limit)
end

-- The same without entries reserved by other loads, and whether there are any. Reserves the first ones up to the score.
local function freeHead(key, limit, reserveCount, to, reserver, now)
  if now < youngSince or now > youngSince + RESERVED_MS or youngCount >= RESERVED_MAX / 2 then
    young, old, youngSince, youngCount = {}, young, now, 0
  end
  local reserved, older = young[key] or { [SIZE] = 0 }, old[key] or NONE
  local known = reserved[SIZE] + (older[SIZE] or 0)
  local entries, isHiding = headOf(key, limit + known, to), 0
  if known > 0 then
    local found, count = entries, 0
    entries = {}
    for i = 1, #found, 2 do
      local holder = reserved[found[i]] or older[found[i]]
      -- A time too far ahead is from before the server's clock went back.
      if holder and holder.by ~= reserver and holder.till > now and holder.till <= now + RESERVED_MS then
        isHiding = 1
      elseif count < 2 * limit then
        entries[count + 1], entries[count + 2], count = found[i], found[i + 1], count + 2
      end
    end
  end
  local holder, size, last = { by = reserver, till = now + RESERVED_MS }, reserved[SIZE], #entries
  if last > 0 and tonumber(entries[last]) > to then last = last - 2 end
  for i = 1, min(last, 2 * min(reserveCount, RESERVED_MAX / 2)), 2 do
    local id = entries[i]
    if (reserved[id] or older[id]) ~= FREE then
      if not reserved[id] then size = size + 1 end
      reserved[id] = holder
    end
  end
  young[key], youngCount, reserved[SIZE] = reserved, youngCount + size - reserved[SIZE], size
  return entries, isHiding
end

-- Locks by partition, with waiters in the order of their arrival. Losing one is safe: its holder's commit is refused.
local locks, lockCount = {}, 0

local function isHeld(lock, now) return lock and lock.token and lock.takenAt <= now and now < lock.expiresAt end

-- Returns 0 if the token holds the lock, else the milliseconds after which to ask again, or -1 if the lock was lost. A holder
-- only extends its lock: what it has loaded may have changed since the lock expired.
local function acquire(partition, token, isHolder, now)
  local lock = locks[partition]
  if isHeld(lock, now) and lock.token == token then
    lock.expiresAt = min(now + LOCK_MS, lock.takenAt + LOCK_MAX_MS)
    return 0
  end
  if isHolder then return -1 end
  if not lock and lockCount >= LOCKS_MAX then locks, lockCount = {}, 0 end
  if not lock then lock, lockCount = { waiters = NONE }, lockCount + 1 end
  locks[partition] = lock
  local waiters, place = {}, nil
  for i = 1, #lock.waiters do
    local waiter = lock.waiters[i]
    if waiter.askedAt <= now and now <= waiter.askedAt + WAITER_MS then
      waiters[#waiters + 1] = waiter
      if waiter.token == token then place, waiter.askedAt = #waiters, now end
    end
  end
  lock.waiters = waiters
  if not place and #waiters < WAITERS_MAX then
    place, waiters[#waiters + 1] = #waiters + 1, { token = token, askedAt = now }
  end
  if place ~= 1 or isHeld(lock, now) then return min(place or BUSY_MAX_MS, BUSY_MAX_MS) end
  table.remove(waiters, 1)
  lock.token, lock.takenAt, lock.expiresAt = token, now, now + LOCK_MS
  return 0
end

-- Compares ids byte by byte, as sorted sets do: the operators of Lua follow the locale of the server.
local function comesBefore(scoreA, a, scoreB, b)
  if scoreA ~= scoreB then return scoreA < scoreB end
  for i = 1, min(#a, #b) do if byte(a, i) ~= byte(b, i) then return byte(a, i) < byte(b, i) end end
  return #a < #b
end

-- Counts the entries before a range that begins past a place. A binary search finds the place of a removed entry.
local function rankBehind(key, score, id, isReverse)
  local stored = call('ZSCORE', key, id)
  if stored and tonumber(stored) == score then return call(isReverse and 'ZREVRANK' or 'ZRANK', key, id) + 1 end
  local low, high = 0, call('ZCARD', key)
  while low < high do
    local middle = floor((low + high) / 2)
    local found = entriesOf(key, middle, 1, isReverse)
    -- No entry has this place, so each entry is before or after it.
    if comesBefore(score, id, tonumber(found[2]), found[1]) ~= isReverse then high = middle else low = middle + 1 end
  end
  return low
end

-- The rank at which a range begins and how many entries it has, up to its limit; for its arguments see `load`.
local function placeOf(args, at)
  local key, from, id, to, isReverse, first = args[at], args[at + 1], args[at + 2], args[at + 3], args[at + 4] == '1', 0
  local limit = countOf(args[at + 5])
  if id ~= '' then first = rankBehind(key, tonumber(from) or refuse('not a range'), id, isReverse)
  elseif from ~= '' then first = countTo(key, '(' .. from, isReverse) end
  if to == '' then to = isReverse and '-inf' or '+inf' end
  return first, max(0, min(limit, countTo(key, to, isReverse) - first)), isReverse
end

-- Appends entries to the reply, the values of the records that they name, and what these bring: names and values, each once.
-- Returns the place behind the templates.
local function addRecords(reply, partition, entries, args, at)
  local last, keys, count, names, seen, brought = at + 2 * countOf(args[at]), {}, 0, {}, {}, {}
  for i = 1, #entries, 2 do
    for place = at + 1, last, 2 do
      keys[count + 1], count = partition .. args[place] .. entries[i] .. args[place + 1], count + 1
    end
  end
  local values, size = onEach('MGET', nil, keys, 1, count), #reply
  for i = 1, count do
    local value, place = values[i], VERSION_BYTES + 2
    local left = value and byte(value, VERSION_BYTES + 1) or 0
    while left > 0 and place < #value do
      local stop = place + byte(value, place)
      local name = sub(value, place + 1, stop)
      if not seen[name] then seen[name], names[#names + 1] = true, name end
      left, place = left - 1, stop + 1
    end
  end
  for i = 1, #names do keys[i] = partition .. names[i] end
  local found = onEach('MGET', nil, keys, 1, #names)
  for i = 1, #names do brought[2 * i - 1], brought[2 * i] = names[i], found[i] end
  reply[size + 1], reply[size + 2], reply[size + 3] = entries, values, brought
  return last + 1
end

-- args: lock token, '1' if an earlier load took the lock, reserver, then needs. TEMPLATES: count, then for each record that an
-- entry names what stands before and behind the id in its key. The `to` of a head is a score behind whose first entry none is
-- wanted, 'now' for the time. Empty: not given. Replies: time, milliseconds to wait, then
--   k count key…                                 values
--   h index limit reserveCount to TEMPLATES      entries, values, brought, whether entries were hidden
--   p index score id to reverse limit TEMPLATES  entries, values, brought
--   c index score id to reverse limit            the number of entries
--   s index count id…                            the scores
--   b bytesMax count key…                        values, until they exceed the bytes
local function load(keys, args)
  local now, partition, reserver, wait = serverTime(), keys[1], args[3] or refuse('no load'), 0
  if args[1] ~= '' then wait = acquire(partition, args[1], args[2] == '1', now) end
  local reply, at = { now, wait }, 4
  while wait == 0 and at <= #args do
    local need, key, size = args[at], args[at + 1], #reply
    if need == 'k' then
      local last = at + 1 + countOf(key)
      reply[size + 1], at = onEach('MGET', nil, args, at + 2, last), last + 1
    elseif need == 'h' then
      local limit, reserveCount, entries, isHiding = countOf(args[at + 2]), countOf(args[at + 3]), nil, 0
      local to = args[at + 4] == 'now' and now or tonumber(args[at + 4]) or INF
      if reserveCount == 0 or limit == 0 then entries = headOf(key, limit, to)
      elseif reserver == '' then refuse('no reserver')
      else entries, isHiding = freeHead(key, limit, reserveCount, to, reserver, now) end
      at, reply[size + 4] = addRecords(reply, partition, entries, args, at + 5), isHiding
    elseif need == 'p' then
      local first, count, isReverse = placeOf(args, at + 1)
      at = addRecords(reply, partition, entriesOf(key, first, count, isReverse), args, at + 7)
    elseif need == 'c' then
      local _, count = placeOf(args, at + 1)
      reply[size + 1], at = count, at + 7
    elseif need == 's' then
      local last = at + 2 + countOf(args[at + 2])
      reply[size + 1], at = onEach('ZMSCORE', key, args, at + 3, last), last + 1
    elseif need == 'b' then
      local values, left, place, last = {}, countOf(key), at + 3, at + 2 + countOf(args[at + 2])
      while place <= last and left >= 0 do
        local value = call('GET', args[place])
        values[#values + 1], left, place = value, left - (value and #value or 0), place + 1
      end
      reply[size + 1], at = values, last + 1
    else refuse('an unknown need') end
  end
  return reply
end

-- Of the commit that runs: the group of each item, in two bytes, and the groups whose conditions do not hold.
local groupOf, failed, failures

local function groupAt(item) return groupOf == '' and 1 or (read('<I2', groupOf, 2 * item - 1)) end

local function fail(item)
  if not failed then failed, failures = {}, {} end
  local group = groupAt(item)
  if not failed[group] then failed[group], failures[#failures + 1] = true, group - 1 end
end

-- The items of groups that hold, each of `width` arguments: a list, its first and its last place.
local function holding(list, first, count, width, item)
  if not failed then return list, first, first + width * count - 1 end
  local kept, size = {}, 0
  for i = 0, count - 1 do
    local at = first + width * i
    for place = at, failed[groupAt(item + i)] and 0 or at + width - 1 do kept[size + 1], size = list[place], size + 1 end
  end
  return kept, 1, size
end

local function write(command, key, args, first, count, width, item)
  local list, start, stop = holding(args, first, count, width, item)
  onEach(command, key, list, start, stop)
  return list, start, stop
end

-- Notes the groups for which an index is not clear: its first entry has a score up to the one given, or has any.
local function checkClear(args, at, count, item)
  for i = 0, count - 1 do
    local first = call('ZRANGE', args[at + 2 * i], 0, 0, 'WITHSCORES')[2]
    if first and tonumber(first) <= (tonumber(args[at + 2 * i + 1]) or INF) then fail(item + i) end
  end
end

-- The keys that a kind of condition is about: those of sets, then others.
local function keysOf(args, setAt, sets, at, others)
  local keys = {}
  for i = 1, sets do keys[i] = args[setAt + 2 * i - 2] end
  for i = 1, others do keys[sets + i] = args[at + i - 1] end
  return keys, sets + others
end

local function failAt(i, sets, setItem, item) fail(i <= sets and setItem + i - 1 or item + i - sets - 1) end

-- Notes the groups whose conditions do not hold. Every byte of a value costs as much as ten instructions when it enters Lua, so
-- of large values only the version does.
local function check(args, expected, setAt, at, item, absentSets, smallSets, largeSets, absent, small, large)
  local setItem, keys, count = 1, keysOf(args, setAt, absentSets, at, absent)
  if count > 0 and onEach('EXISTS', nil, keys, 1, count) > 0 then
    -- GET raises the error of the server if the key holds another kind of value.
    for i = 1, count do if call('GET', keys[i]) then failAt(i, absentSets, setItem, item) end end
  end
  setAt, setItem, at, item = setAt + 2 * absentSets, setItem + absentSets, at + absent, item + absent
  keys, count = keysOf(args, setAt, smallSets, at, small)
  local found = onEach('MGET', nil, keys, 1, count)
  for i = 1, count do
    local value, version, length = found[i], read('<c8I4', expected, EXPECTED_BYTES * (i - 1) + 1)
    -- A value too short for a version was damaged outside; its length alone is compared.
    local isOther = not value or #value ~= length or length >= VERSION_BYTES and sub(value, 1, VERSION_BYTES) ~= version
    if isOther then failAt(i, smallSets, setItem, item) end
  end
  local before = EXPECTED_BYTES * count
  setAt, setItem, at, item = setAt + 2 * smallSets, setItem + smallSets, at + small, item + small
  keys, count = keysOf(args, setAt, largeSets, at, large)
  for i = 1, count do
    local key, version, length = keys[i], read('<c8I4', expected, before + EXPECTED_BYTES * (i - 1) + 1)
    if call('STRLEN', key) ~= length or call('GETRANGE', key, 0, VERSION_BYTES - 1) ~= version then
      failAt(i, largeSets, setItem, item)
    end
  end
end

-- args: time, lag, lock token, '1' to pass the lock of another, the head of messages, holders, ended, grown, counts, groups of
-- items, expected versions and lengths. Then those of all groups: keys with values, first those that must be absent, then those of
-- expected records, small and large; further keys under the same three conditions; indexes that must be clear with scores;
-- keys to remove; events; indexes, each as key, name if it has the mark READY, ids that are reserved no more, ids to remove,
-- scores with ids to add. Counts end with those of each index behind its mark. Names, holders, ended and grown are JSON.
local function commit(keys, args)
  local partition, now, token, counts, expected = keys[1], tonumber(args[1]), args[3], args[9], args[11]
  if not expected or not now or #counts < COUNTS_BYTES then refuse('no commit') end
  local groups, absentSets, smallSets, largeSets, sets, absent, small, large, clear, removes, events, indexes =
    read('<I2I2I2I2I2I2I2I2I2I2I2I2', counts)
  local setsAt, others = 12, absent + small + large
  local othersAt, otherItem = setsAt + 2 * sets, 1 + sets
  local clearAt, clearItem = othersAt + others, otherItem + others
  local removesAt, removeItem = clearAt + 2 * clear, clearItem + clear
  local eventsAt, eventItem = removesAt + removes, removeItem + removes
  local indexesAt, indexItem = eventsAt + events, eventItem + events
  local isMatching = #counts == COUNTS_BYTES + INDEX_BYTES * indexes and absentSets + smallSets + largeSets <= sets
  -- All reads that can fail come before any write: a key of another type raises its error here.
  local log, at, item, before = partition .. EVENTS, indexesAt, indexItem, {}
  -- The count of trimmed events carries the level of the store. The loader fills in what stands for a level, and where it ends.
  local logged, stored = call('LLEN', log), countOf(call('GET', partition .. TRIMMED) or 0)
  local trimmed = stored % LEVEL_STEP
  for i = 1, isMatching and indexes or 0 do
    local mark, freed, removed, added = read('<I2I2I2I2', counts, COUNTS_BYTES + INDEX_BYTES * (i - 1) + 1)
    local key, freedAt = args[at], at + (mark == READY and 2 or 1)
    local removedAt = freedAt + freed
    local addedAt, last = removedAt + removed, removedAt + removed + 2 * added - 1
    if last > #args then isMatching = false break end
    unreserve(key, args, freedAt, removedAt - 1, 1, mark == FIRST)
    unreserve(key, args, removedAt, addedAt - 1, 1)
    unreserve(key, args, addedAt + 1, last, 2)
    local score
    for place = addedAt, last, 2 do
      -- Neighbours often have the same score.
      if args[place] ~= score then score = args[place] if not ((tonumber(score) or INF) < INF) then refuse('not a score') end end
    end
    if mark == FIRST then before[i] = tonumber(call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]) or INF
    else before[i] = call('ZCARD', key) end
    at, item = last + 1, item + removed + added
  end
  groupOf, failed, failures = args[10], nil, NONE
  isMatching = isMatching and #expected == EXPECTED_BYTES * (smallSets + largeSets + small + large)
  isMatching = isMatching and (groups <= 1 and groupOf == '' or #groupOf == 2 * item - 2)
  if at ~= #args + 1 or not isMatching then refuse('counts and arguments differ') end

  local time, lock = serverTime(), locks[partition]
  if stored >= LEVEL_END then return { LEVEL, time, floor(stored / LEVEL_STEP) + 1 } end
  if token ~= '' and not (isHeld(lock, time) and lock.token == token) then return { LOCK_LOST, time } end
  if token == '' and args[4] ~= '1' and isHeld(lock, time) then return { LOCKED, time } end
  local isOwnClock = args[2] == '' or args[2] == CLOCK_BACK
  if not isOwnClock and (now > time or now < time - countOf(args[2])) then return { CLOCK, time } end
  check(args, expected, setsAt, othersAt, otherItem, absentSets, smallSets, largeSets, absent, small, large)
  checkClear(args, clearAt, clear, clearItem)
  -- Another commit may have come between the load and this one, with a later time.
  local newest = events > 0 and args[2] ~= CLOCK_BACK and call('LINDEX', log, -1)
  local newestAt = newest and #newest >= TIME_BYTES and read('<I6', newest) or 0
  if newestAt > now then
    now = newestAt
    for i = eventsAt, eventsAt + events - 1 do args[i] = sub(newest, 1, TIME_BYTES) .. sub(args[i], TIME_BYTES + 1) end
  end

  write('MSET', nil, args, setsAt, sets, 2, 1)
  write('DEL', nil, args, removesAt, removes, 1, removeItem)
  local woken, dueAt, firstDue = '', '', INF
  at, item = indexesAt, indexItem
  for i = 1, indexes do
    local mark, freed, removed, added = read('<I2I2I2I2', counts, COUNTS_BYTES + INDEX_BYTES * (i - 1) + 1)
    local key, name = args[at], args[at + 1]
    at = at + (mark == READY and 2 or 1) + freed
    write('ZREM', key, args, at, removed, 1, item)
    local list, first, last = write('ZADD', key, args, at + removed, added, 2, item + removed)
    for place = first, mark == FIRST and last or 0, 2 do
      local score = tonumber(list[place])
      if score < before[i] and score < firstDue then firstDue, dueAt = score, ',"dueAt":' .. list[place] end
      before[i] = min(before[i], score)
    end
    if mark == READY and before[i] == 0 and last >= first then woken = woken .. (woken == '' and '' or ',') .. name end
    at, item = at + removed + 2 * added, item + removed + added
  end
  local _, first, last = write('RPUSH', log, args, eventsAt, events, 1, eventItem)
  local sequence = trimmed + logged + last - first + 1
  if last >= first then
    -- The list also has those of failed groups: a client that waits for one of them reads it and continues to wait.
    local message = '%s,"first":%.0f,"last":%.0f,"at":%.0f,"ended":[%s]%s}'
    local grown = args[8] == '' and '' or ',"grown":[' .. args[8] .. ']'
    call('SPUBLISH', keys[2] .. 'events', string.format(message, args[5], trimmed + logged + 1, sequence, now, args[7], grown))
  end
  local isWriting = sets + removes + events + indexes > 0 and #failures < groups
  if last < first and isWriting and args[8] ~= '' then
    call('SPUBLISH', keys[2] .. 'events', args[5] .. ',"grown":[' .. args[8] .. ']}')
  end
  if woken ~= '' or dueAt ~= '' or isWriting and args[6] ~= '' then
    call('SPUBLISH', keys[2] .. 'wake', args[5] .. ',"ready":[' .. woken .. ']' .. dueAt .. ',"holdersOf":[' .. args[6] .. ']}')
  end
  if token ~= '' then lock.token = nil end
  if token ~= '' and #lock.waiters == 0 then locks[partition], lockCount = nil, lockCount - 1 end
  return { APPLIED, time, sequence, now, failures }
end

local function isHinted(event, args)
  if args[4] ~= '' and not find(args[4], sub(event, TYPE_AT, TYPE_AT), 1, true) then return false end
  for i = 5, #args do if not find(event, args[i], 1, true) then return false end end
  return true
end

-- args: behind which event to begin, how many to read at most. With a hint: how many to examine, their types, a byte each, texts.
-- Replies how many were ever trimmed, how many there are, events, with a hint also their places among those examined.
local function readLog(keys, args)
  local log, trimmed = keys[1] .. EVENTS, countOf(call('GET', keys[1] .. TRIMMED) or 0) % LEVEL_STEP
  local first, limit, count = max(0, countOf(args[1]) - trimmed), countOf(args[2]), call('LLEN', log)
  local examined = args[3] and countOf(args[3]) or limit
  local events = limit > 0 and examined > 0 and call('LRANGE', log, first, first + examined - 1) or NONE
  if not args[3] then return { trimmed, count, events } end
  local found, places = {}, {}
  for i = 1, #events do
    if #found < limit and (i == 1 or i == #events or isHinted(events[i], args)) then
      found[#found + 1], places[#places + 1] = events[i], i
    end
  end
  return { trimmed, count, found, places }
end

-- args: the time before which events are too old, how many to keep at most, how many to remove at most. Replies how many it
-- removed. Times never decrease in the log, so a binary search finds the first event to keep.
local function trimLog(keys, args)
  local log, olderThan, removedMax = keys[1] .. EVENTS, countOf(args[1]), countOf(args[3])
  local count = call('LLEN', log)
  local low, high = max(0, count - countOf(args[2])), count
  while low < high do
    local middle = floor((low + high) / 2)
    if read('<I6', call('LINDEX', log, middle)) < olderThan then low = middle + 1 else high = middle end
  end
  local removed = min(low, removedMax)
  if removed > 0 then call('INCRBY', keys[1] .. TRIMMED, removed) call('LTRIM', log, removed, -1) end
  return removed
end

-- args: command lines, as JSON. Replies those that the user of the caller may not run or that the server lacks.
local function permissions(_, args)
  local denied = {}
  for _, line in ipairs(cjson.decode(args[1])) do
    local isKnown, isAllowed = pcall(redis.acl_check_cmd, unpack(line))
    if not (isKnown and isAllowed) then denied[#denied + 1] = line[1] end
  end
  return denied
end

local function register(suffix, callback, flags)
  redis.register_function({ function_name = 'FUNCTION_NAME' .. suffix, flags = flags, callback = function(keys, args)
    bind()
    return callback(keys, args)
  end })
end

register('_load', load, { 'no-writes' })
register('_commit', commit, {})
register('_commit_when_full', commit, { 'allow-oom' })
register('_read_log', readLog, { 'no-writes' })
register('_trim_log', trimLog, { 'allow-oom' })
register('_permissions', permissions, { 'no-writes' })
