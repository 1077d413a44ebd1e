-- The transaction that the kernel sees inside the server. A call is a batch of operations for one partition. Each runs as
-- if alone: its writes join those of the call only when it has answered, so a refusal or a fault has written nothing. The
-- call applies them together at its end, or before an operation reads an index that they change. Everything that a call
-- touches has a key that begins with the partition's prefix.
--
-- A table that grows is made anew inside again and again, so what every operation needs is kept and emptied instead.
-- Work leaves much behind that is soon forgotten; looking for it less often costs a few megabytes and saves time.
collectgarbage('setpause', 400)

local kernel, layout = bootKernel(), bootLayout(struct.pack, struct.unpack, table.concat)

local redisCall, tonumber, pcall, error, type = redis.call, tonumber, pcall, error, type
local packNamed, unpackNamed = cmsgpack.pack, cmsgpack.unpack
local unpackList, byte, char, sub = unpack, string.byte, string.char, string.sub
local operations, entriesOf = kernel.operations, kernel.entriesOf
local isReadyIndex, concernsHolder, comesBefore = kernel.isReadyIndex, kernel.concernsHolder, kernel.comesBefore
local DUE_INDEX = kernel.DUE_INDEX
local OPERATION_WORK_LIMIT, CALL_WORK_LIMIT = kernel.OPERATION_WORK_LIMIT, kernel.CALL_WORK_LIMIT
local CALL_REPLY_BYTES = kernel.CALL_REPLY_BYTES
local packers, unpackers, packEvents, packWake = layout.pack, layout.unpack, layout.packEvents, layout.packWake
local inputs, results, operationNames = layout.inputs, layout.results, layout.operationNames

-- How a call and an answer are to be read.
local WITH_NAMES, BY_LAYOUT, FAULT = layout.codes.withNames, layout.codes.byLayout, layout.codes.fault
-- What an argument list may hold on top of the command's own words.
local MANY_KEYS = 1000
-- How many records are remembered as they were before they were packed, over all partitions of the server.
local RECENT_RECORDS = 500
-- How many names of index keys are remembered, over all partitions of the server.
local INDEX_KEYS_MAX = 10000
-- How many entries are applied one by one, and how many records are forgotten one by one.
local FEW = 8
-- What a text's length can say. Nothing that the limits of the kernel allow comes near it.
local PACKED_BYTES_MAX = 65535
local NONE = {}
-- What most calls have changed: nothing but the event log.
local ONLY_EVENTS = packWake({ sender = '', ready = NONE, hasEvents = true, holdersOf = NONE })

-- Of the call.
local prefix, arguments, indexKeys, reply, replyCount, replyBytes, callWork
local readyIndexes, readyGains, dueGain, dueHead, holders, hasEvents
-- The form of every record that the call has met, by its key, as the call sees it; false if there is none.
local stored, storedCount = {}, 0
-- What the call has yet to write: records and blobs by their keys, entries in the order of their changes.
local dirty, dirtyCount, dirtyKeys = {}, 0, {}
local waitingCount, waitingIndexes, waitingIds, waitingScores = 0, {}, {}, {}
local waitingEventCount, waitingEvents = 0, {}
-- Of the operation: the records it has met, in the order in which it met them.
local slotOf, slotCount, slotKeys, slotTypes, slotEntries, slotWrites, slotRecords = {}, 0, {}, {}, {}, {}, {}
local entryCount, entryIndexes, entryIds, entryScores = 0, {}, {}, {}
local blobCount, blobKeys, blobBytes = 0, {}, {}
local eventCount, events = 0, {}
local firstBlob, givenCount, sentCount, work, isRepairing

local indexKeysOf, indexKeyCount = {}, 0

-- What was written last, as it was before it was packed, by its key: most records are read again soon after they were
-- written. It is good for as long as the stored bytes are the very ones that were made from it.
local recentAt, recentKeys, recentBytes, recentRecords, recentEntries = 0, {}, {}, {}, {}

local applyIfWaiting

local tx = {}

-- What follows the prefix of a key, by what the key holds. Keys are many, so their names are short.
local keyKinds = layout.keyKinds

local function recordKey(recordType, id)
  return prefix .. keyKinds[recordType] .. id
end

local function indexKey(index)
  local key = indexKeys[index]
  if not key then
    if indexKeyCount >= INDEX_KEYS_MAX then
      indexKeys, indexKeyCount = {}, 0
      indexKeysOf = { [prefix] = indexKeys }
    end
    key = prefix .. keyKinds.index .. index
    indexKeys[index] = key
    indexKeyCount = indexKeyCount + 1
  end
  return key
end

local function blobKey(key)
  return prefix .. keyKinds.blob .. key
end

function tx:fault(reason, recordId)
  error({ reason = reason, recordId = recordId })
end

-- The record's place among those that the operation has met.
local function slotFor(key, recordType)
  local slot = slotOf[key]
  if not slot then
    slotCount = slotCount + 1
    slot = slotCount
    slotOf[key], slotKeys[slot], slotTypes[slot] = slot, key, recordType
    slotEntries[slot], slotWrites[slot] = nil, nil
  end
  return slot
end

-- The stored form of a record as the operation sees it; false if there is none.
local function bytesOf(slot, key)
  local bytes = slotWrites[slot]
  if bytes == nil then
    bytes = stored[key]
    if bytes == nil then
      bytes = redisCall('GET', key)
      stored[key] = bytes
      storedCount = storedCount + 1
    end
  end
  return bytes
end

-- Whoever takes it may change it, so it is good for one reader only.
local function takeRecent(slot, key)
  recentBytes[key] = nil
  if not slotEntries[slot] then slotEntries[slot] = recentEntries[key] end
  return recentRecords[key]
end

local function remember(slot, key, bytes)
  if recentRecords[key] == nil then
    recentAt = recentAt % RECENT_RECORDS + 1
    local oldest = recentKeys[recentAt]
    if oldest then recentBytes[oldest], recentRecords[oldest], recentEntries[oldest] = nil, nil, nil end
    recentKeys[recentAt] = key
  end
  recentBytes[key], recentRecords[key], recentEntries[key] = bytes, slotRecords[slot], slotEntries[slot]
end

local function readStored(slot, bytes)
  local record = unpackers[slotTypes[slot]](bytes)
  if not slotEntries[slot] then slotEntries[slot] = entriesOf(record) end
  return record
end

-- A private copy. Its index entries are noted before anybody can change it. Bytes that are none of a record make none,
-- be it that they cannot be unpacked or that what they hold has no place in an index.
local function read(slot, bytes)
  local key = slotKeys[slot]
  if recentBytes[key] == bytes then return takeRecent(slot, key) end
  local isReadable, record = pcall(readStored, slot, bytes)
  return isReadable and record or nil
end

function tx:get(recordType, id)
  local key = recordKey(recordType, id)
  local slot = slotFor(key, recordType)
  local bytes = bytesOf(slot, key)
  if not bytes then return nil end
  return read(slot, bytes) or tx:fault('the record cannot be read', id)
end

function tx:has(recordType, id)
  local key = recordKey(recordType, id)
  return bytesOf(slotFor(key, recordType), key) ~= false
end

-- Brings what is not known yet in one read.
local function fetch(keys)
  local missing = {}
  for i = 1, #keys do
    if stored[keys[i]] == nil then missing[#missing + 1] = keys[i] end
  end
  if #missing < 2 then return end
  for first = 1, #missing, MANY_KEYS do
    local last = math.min(first + MANY_KEYS - 1, #missing)
    local found = redisCall('MGET', unpackList(missing, first, last))
    for i = first, last do stored[missing[i]] = found[i - first + 1] end
    storedCount = storedCount + last - first + 1
  end
end

-- What cannot be read is left out, so that one damaged record does not keep all others from being found.
function tx:getMany(recordType, ids)
  local keys, records = {}, {}
  for i = 1, #ids do keys[i] = recordKey(recordType, ids[i]) end
  if #keys > 1 then fetch(keys) end
  for i = 1, #keys do
    local slot = slotFor(keys[i], recordType)
    local bytes = bytesOf(slot, keys[i])
    local record = bytes and read(slot, bytes)
    if record then records[#records + 1] = record end
  end
  return records
end

-- Of an entry that is changed twice only the last change counts, so `isAgain` looks for an earlier one.
local function setEntry(index, id, score, isAgain)
  if isAgain then
    for i = 1, entryCount do
      if entryIndexes[i] == index and entryIds[i] == id then
        entryScores[i] = score or false
        return
      end
    end
  end
  entryCount = entryCount + 1
  entryIndexes[entryCount], entryIds[entryCount], entryScores[entryCount] = index, id, score or false
end

local function entryOf(entries, index)
  for i = 1, #entries do
    if entries[i].index == index then return entries[i] end
  end
  return nil
end

local function write(recordType, id, bytes, after)
  if work >= OPERATION_WORK_LIMIT then tx:fault('the operation writes more records than it may', id) end
  work = work + 1
  local key = recordKey(recordType, id)
  local slot = slotFor(key, recordType)
  local before = slotEntries[slot]
  if not before then
    local old = bytesOf(slot, key)
    if old and not read(slot, old) then tx:fault('the record cannot be read', id) end
    before = slotEntries[slot] or NONE
  end
  local isAgain = slotWrites[slot] ~= nil
  slotWrites[slot], slotEntries[slot] = bytes, after
  -- Entries of the same index mostly stand in the same place, so that is where it is looked first.
  for i = 1, #before do
    local index = before[i].index
    local other = after[i]
    if not (other and other.index == index) and not entryOf(after, index) then setEntry(index, id, nil, isAgain) end
  end
  for i = 1, #after do
    local entry, other = after[i], before[i]
    if not (other and other.index == entry.index) then other = entryOf(before, entry.index) end
    if not (other and other.score == entry.score) then setEntry(entry.index, id, entry.score, isAgain) end
  end
  return slot
end

-- A text that is longer than its length can say would make nonsense of everything behind it.
local function checked(bytes, id)
  if #bytes > PACKED_BYTES_MAX then tx:fault('a text is too long to be stored', id) end
  return bytes
end

function tx:put(record)
  local recordType, id = record.type, record.id
  local slot = write(recordType, id, checked(packers[recordType](record), id), entriesOf(record))
  slotRecords[slot] = record
end

function tx:remove(recordType, id)
  write(recordType, id, false, NONE)
end

function tx:repair(index, id, score)
  isRepairing = true
  setEntry(index, id, score, true)
end

-- The earliest timer of the partition as it was before the call changed any.
local function readDueHead()
  local head = redisCall('ZRANGE', indexKey(DUE_INDEX), 0, 0, 'WITHSCORES')
  dueHead = head[2] and tonumber(head[2]) or math.huge
end

local function toEntries(index, found)
  local entries = {}
  for i = 1, #found, 2 do
    entries[#entries + 1] = { index = index, id = found[i], score = tonumber(found[i + 1]) }
  end
  return entries
end

local function isBehind(range, score, id)
  local place = { score = score, id = id }
  if range.reverse then return comesBefore(place, range.from) end
  return comesBefore(range.from, place)
end

-- How many entries stand in front of a range that begins behind an entry. One that still stands where it was names its own
-- place; that of one that is gone is found by halving.
local function rankBehind(range, key)
  local from, isReverse = range.from, range.reverse
  local score = redisCall('ZSCORE', key, from.id)
  if score and tonumber(score) == from.score then
    return redisCall(isReverse and 'ZREVRANK' or 'ZRANK', key, from.id) + 1
  end
  local command = isReverse and 'ZREVRANGE' or 'ZRANGE'
  local low, high = 0, redisCall('ZCARD', key)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local found = redisCall(command, key, middle, middle, 'WITHSCORES')
    if isBehind(range, tonumber(found[2]), found[1]) then high = middle else low = middle + 1 end
  end
  return low
end

local function storedBehind(range, key, limit)
  local to, isReverse = range.to, range.reverse
  local first = rankBehind(range, key)
  local command = isReverse and 'ZREVRANGE' or 'ZRANGE'
  local entries = toEntries(range.index, redisCall(command, key, first, first + limit - 1, 'WITHSCORES'))
  while to and #entries > 0 do
    local last = entries[#entries].score
    if (isReverse and last >= to) or (not isReverse and last <= to) then break end
    entries[#entries] = nil
  end
  return entries
end

local function storedRange(range, limit)
  applyIfWaiting(range.index)
  local index, from, to, isReverse = range.index, range.from, range.to, range.reverse
  if limit <= 0 then return {} end
  -- Most often nothing is due, which the first entry tells; it is wanted later anyway.
  if index == DUE_INDEX and to and not from and not isReverse then
    if not dueHead then readDueHead() end
    -- An operation of the batch before this one may have set an earlier timer.
    if dueHead > to and not (dueGain and dueGain <= to) then return {} end
  end
  local key = indexKey(index)
  if from and from.id then return storedBehind(range, key, limit) end
  if not from and not to then
    return toEntries(index, redisCall(isReverse and 'ZREVRANGE' or 'ZRANGE', key, 0, limit - 1, 'WITHSCORES'))
  end
  local found
  if isReverse then
    local first, last = from and from.score or '+inf', to or '-inf'
    found = redisCall('ZREVRANGEBYSCORE', key, first, last, 'WITHSCORES', 'LIMIT', 0, limit)
  else
    local first, last = from and from.score or '-inf', to or '+inf'
    found = redisCall('ZRANGEBYSCORE', key, first, last, 'WITHSCORES', 'LIMIT', 0, limit)
  end
  return toEntries(index, found)
end

local function isInRange(range, score, id)
  local from, to = range.from, range.to
  if range.reverse then
    if to and score < to then return false end
    if not from then return true end
    if not from.id then return score <= from.score end
  else
    if to and score > to then return false end
    if not from then return true end
    if not from.id then return score >= from.score end
  end
  return isBehind(range, score, id)
end

local function isChanged(index)
  for i = 1, entryCount do
    if entryIndexes[i] == index then return true end
  end
  return false
end

-- What the operation itself has changed in an index, in front of what is stored. The last change of an id counts.
local function changesOf(index)
  local scores, count = {}, 0
  for i = 1, entryCount do
    if entryIndexes[i] == index then
      if scores[entryIds[i]] == nil then count = count + 1 end
      scores[entryIds[i]] = entryScores[i]
    end
  end
  return scores, count
end

function tx:range(range)
  if not isChanged(range.index) then return storedRange(range, range.limit) end
  local scores, count = changesOf(range.index)
  local entries = {}
  local found = storedRange(range, range.limit + count)
  for i = 1, #found do
    if scores[found[i].id] == nil then entries[#entries + 1] = found[i] end
  end
  for id, score in pairs(scores) do
    if score and isInRange(range, score, id) then
      entries[#entries + 1] = { index = range.index, id = id, score = score }
    end
  end
  table.sort(entries, function(a, b)
    if range.reverse then return comesBefore(b, a) end
    return comesBefore(a, b)
  end)
  for i = #entries, range.limit + 1, -1 do entries[i] = nil end
  return entries
end

function tx:scan(range, recordType)
  local ids, entries = {}, tx:range(range)
  for i = 1, #entries do ids[i] = entries[i].id end
  return tx:getMany(recordType, ids)
end

function tx:countUpTo(range)
  local from, to = range.from, range.to
  if range.reverse or (from and from.id) or isChanged(range.index) then return #tx:range(range) end
  applyIfWaiting(range.index)
  local key, count = indexKey(range.index), nil
  if not from and not to then
    count = redisCall('ZCARD', key)
  else
    count = redisCall('ZCOUNT', key, from and from.score or '-inf', to or '+inf')
  end
  return math.min(count, range.limit)
end

function tx:score(index, id)
  if isChanged(index) then
    local score = changesOf(index)[id]
    if score ~= nil then return score or nil end
  end
  applyIfWaiting(index)
  local score = redisCall('ZSCORE', indexKey(index), id)
  return score and tonumber(score) or nil
end

function tx:emit(eventType, execution, detail)
  eventCount = eventCount + 1
  events[eventCount] = checked(packEvents[eventType](execution, detail, tx.now), execution.id)
  if concernsHolder(eventType, detail) then holders[#holders + 1] = execution.id end
end

local function setBlob(key, bytes)
  blobCount = blobCount + 1
  blobKeys[blobCount], blobBytes[blobCount] = key, bytes
end

function tx:keep(key, blob)
  if blob < 0 or blob >= givenCount then tx:fault('a blob did not come with the call', key) end
  setBlob(key, arguments[firstBlob + blob])
end

function tx:forget(key)
  setBlob(key, false)
end

function tx:send(key)
  local bytes
  for i = 1, blobCount do
    if blobKeys[i] == key then bytes = blobBytes[i] end
  end
  if bytes == nil then
    local name = blobKey(key)
    bytes = dirty[name]
    if bytes == nil then bytes = redisCall('GET', name) end
  end
  if not bytes then return nil end
  sentCount = sentCount + 1
  reply[replyCount + 1 + sentCount] = bytes
  replyBytes = replyBytes + #bytes
  return sentCount - 1
end

function tx:room()
  return OPERATION_WORK_LIMIT - work
end

local function forgetOperation()
  for i = 1, slotCount do slotOf[slotKeys[i]] = nil end
  slotCount, entryCount, blobCount, eventCount, sentCount, work, isRepairing = 0, 0, 0, 0, 0, 0, false
end

local function noteGain(index, gain)
  if gain == 0 or not isReadyIndex(index) then return end
  if not readyGains[index] then readyIndexes[#readyIndexes + 1] = index end
  readyGains[index] = (readyGains[index] or 0) + gain
end

local function noteDue(score)
  if not dueHead then readDueHead() end
  if not dueGain or score < dueGain then dueGain = score end
end

local function applyEntry(index, id, score)
  if not score then
    redisCall('ZREM', indexKey(index), id)
  else
    if index == DUE_INDEX then noteDue(score) end
    noteGain(index, redisCall('ZADD', indexKey(index), score, id))
  end
end

-- Adds and removes all waiting entries of one index at once. Nobody is both added and removed: who was written by two
-- operations was applied in between.
local function applyIndex(index, first)
  local added, removed = {}, {}
  for i = first, waitingCount do
    if waitingIndexes[i] == index then
      local score = waitingScores[i]
      if score then
        added[#added + 1] = score
        added[#added + 1] = waitingIds[i]
        if index == DUE_INDEX then noteDue(score) end
      else
        removed[#removed + 1] = waitingIds[i]
      end
      waitingIndexes[i] = false
    end
  end
  local key = indexKey(index)
  if #removed > 0 then redisCall('ZREM', key, unpackList(removed)) end
  if #added > 0 then noteGain(index, redisCall('ZADD', key, unpackList(added))) end
end

-- A few are applied one by one; gathering them pays only for many.
local function applyEntries()
  local isMany = waitingCount > FEW
  for i = 1, waitingCount do
    local index = waitingIndexes[i]
    if index and isMany then
      applyIndex(index, i)
    elseif index then
      applyEntry(index, waitingIds[i], waitingScores[i])
    end
  end
  waitingCount = 0
end

-- Whoever reads an index sees what the operations before have changed in it.
applyIfWaiting = function(index)
  for i = 1, waitingCount do
    if waitingIndexes[i] == index then
      applyEntries()
      return
    end
  end
end

local function applyValues()
  if dirtyCount == 1 and dirty[dirtyKeys[1]] then
    local key = dirtyKeys[1]
    redisCall('SET', key, dirty[key])
    dirty[key], dirtyCount = nil, 0
    return
  end
  local written, removed = {}, {}
  for i = 1, dirtyCount do
    local key = dirtyKeys[i]
    local bytes = dirty[key]
    if bytes then
      written[#written + 1] = key
      written[#written + 1] = bytes
    else
      removed[#removed + 1] = key
    end
    dirty[key] = nil
  end
  dirtyCount = 0
  if #written > 0 then redisCall('MSET', unpackList(written)) end
  if #removed > 0 then redisCall('DEL', unpackList(removed)) end
end

local function apply()
  if dirtyCount > 0 then applyValues() end
  if waitingCount > 0 then applyEntries() end
  if waitingEventCount > 0 then
    redisCall('RPUSH', prefix .. 'events', unpackList(waitingEvents, 1, waitingEventCount))
    waitingEventCount, hasEvents = 0, true
  end
end

local function setDirty(key, bytes)
  if dirty[key] == nil then
    dirtyCount = dirtyCount + 1
    dirtyKeys[dirtyCount] = key
  end
  dirty[key] = bytes
end

-- The operation has answered: what it has written is now the call's. Nothing here can be refused.
local function commit()
  for i = 1, slotCount do
    local key, bytes = slotKeys[i], slotWrites[i]
    if bytes ~= nil then
      -- Its entries change a second time, and the order of the changes counts.
      if dirty[key] ~= nil then applyEntries() end
      setDirty(key, bytes)
      stored[key] = bytes
      if bytes then remember(i, key, bytes) end
    end
  end
  for i = 1, entryCount do
    local at = waitingCount + i
    waitingIndexes[at], waitingIds[at], waitingScores[at] = entryIndexes[i], entryIds[i], entryScores[i]
  end
  waitingCount = waitingCount + entryCount
  -- No record tells that an entry which was repaired changes a second time.
  if isRepairing then applyEntries() end
  for i = 1, blobCount do setDirty(blobKey(blobKeys[i]), blobBytes[i]) end
  for i = 1, eventCount do waitingEvents[waitingEventCount + i] = events[i] end
  waitingEventCount = waitingEventCount + eventCount
end

local function inputOf(code, name, argument)
  if code == BY_LAYOUT then return (inputs[name](argument, 4)) end
  return unpackNamed(sub(argument, 4))
end

-- How the answer is to be read, and the answer. Whatever fails here fails this operation alone.
local function answerOf(name, code, argument)
  local result = operations[name](tx, inputOf(code, name, argument))
  local by = results[name]
  if by and by.kinds[result.kind] then return BY_LAYOUT, by.pack(result) end
  return WITH_NAMES, packNamed(result)
end

local function runOperation(name, code, argument)
  local holderCount, bytesBefore = #holders, replyBytes
  local isDone, answerCode, answer = pcall(answerOf, name, code, argument)
  if isDone then
    commit()
    callWork = callWork + work
    return answerCode, answer
  end
  for i = #holders, holderCount + 1, -1 do holders[i] = nil end
  for i = 1, sentCount do reply[replyCount + 1 + i] = nil end
  replyBytes, sentCount = bytesBefore, 0
  local fault = answerCode
  if type(fault) ~= 'table' then fault = { reason = tostring(fault), recordId = '' } end
  return FAULT, packNamed({ fault.reason or tostring(fault.err), fault.recordId or '' })
end

-- Tells other processes what they cannot wait for their next look to see. An index that had entries before has been told
-- of already, a timer behind the first one will be seen when the first one is, and what was added and taken again by the
-- same call is no news to anybody.
local function publishWake(channel, sender)
  local woken, remaining, dueAt = NONE, NONE, nil
  for i = 1, #readyIndexes do
    local index = readyIndexes[i]
    local count = redisCall('ZCARD', indexKey(index))
    if count > 0 then
      if remaining == NONE then remaining = {} end
      remaining[#remaining + 1] = index
    end
    if count > 0 and count <= readyGains[index] then
      if woken == NONE then woken = {} end
      woken[#woken + 1] = index
    end
  end
  readyIndexes = remaining
  if dueGain and dueGain < dueHead then dueAt = dueGain end
  if #woken > 0 or dueAt or #holders > 0 then
    local wake = { sender = sender, ready = woken, dueAt = dueAt, hasEvents = false, holdersOf = holders }
    redisCall('SPUBLISH', channel .. 'wake', packWake(wake))
  end
end

local function beginCall(keys, args)
  prefix, arguments = keys[1], args
  indexKeys = indexKeysOf[prefix]
  if not indexKeys then
    indexKeys = {}
    indexKeysOf[prefix] = indexKeys
  end
  -- A table that once was large is walked as if it still were.
  if storedCount > FEW then
    stored = {}
  else
    for key in pairs(stored) do stored[key] = nil end
  end
  storedCount = 0
  for i = 1, dirtyCount do dirty[dirtyKeys[i]] = nil end
  dirtyCount, waitingCount, waitingEventCount = 0, 0, 0
  reply, replyCount, replyBytes, callWork = { '', '', '' }, 2, 0, 0
  readyIndexes, readyGains, dueGain, dueHead, holders, hasEvents = {}, {}, nil, nil, {}, false
  if args[1] == '' then
    local time = redisCall('TIME')
    tx.now = time[1] * 1000 + math.floor(time[2] / 1000)
  else
    tx.now = tonumber(args[1])
  end
end

-- keys: the prefix of the partition's keys and of its channels; neither is ever written, so a server that is handing the
-- partition over refuses the call as a whole. args: the time if it is not the server's, the sender, then every call with
-- its blobs behind it. A call begins with three bytes: how its input is to be read, the number of its operation, and how
-- many blobs it has. The reply is what changed, two bytes for each answer (how it is to be read, how many blobs it has),
-- then every answer with its blobs behind it.
local function run(keys, args)
  beginCall(keys, args)
  local codes, at = {}, 3
  while at <= #args and callWork < CALL_WORK_LIMIT and replyBytes < CALL_REPLY_BYTES do
    local code, number, count = byte(args[at], 1, 3)
    firstBlob, givenCount = at + 1, count
    forgetOperation()
    local answerCode, answer = runOperation(operationNames[number], code, args[at])
    reply[replyCount + 1] = answer
    codes[#codes + 1] = answerCode
    codes[#codes + 1] = sentCount
    replyCount = replyCount + 1 + sentCount
    at = at + 1 + count
  end
  apply()
  if #readyIndexes > 0 or dueGain or #holders > 0 then
    publishWake(keys[2], args[2])
    reply[1] = packWake({ sender = '', ready = readyIndexes, dueAt = dueGain, hasEvents = hasEvents, holdersOf = holders })
  else
    reply[1] = hasEvents and ONLY_EVENTS or ''
  end
  if hasEvents then redisCall('SPUBLISH', keys[2] .. 'events', args[2]) end
  reply[2] = char(unpackList(codes))
  return reply
end

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
