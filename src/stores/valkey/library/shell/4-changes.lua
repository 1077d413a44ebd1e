-- Changes: collected by the operation, taken over by the call, applied to the server.

function tx:emit(eventType, subject, detail)
  eventCount = eventCount + 1
  events[eventCount] = checked(packEvents[eventType](subject, detail, tx.now), subject.id)
  if concernsHolder(eventType, detail) then holders[#holders + 1] = subject.id end
  if tellsEnd(eventType) then ended[#ended + 1] = subject.id end
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

function tx:hides()
  return false
end

function tx:room()
  return math.max(0, workLimit - work - math.floor(readCount / READS_PER_UNIT))
end

local function forgetOperation()
  for i = 1, slotCount do slotOf[slotKeys[i]] = nil end
  for i = 1, entryCount do isEntered[entryIndexes[i]] = nil end
  slotCount, entryCount, blobCount, eventCount, sentCount, work, readCount, isRepairing = 0, 0, 0, 0, 0, 0, 0, false
end

-- The first letter of the indexes that workers take from; most entries are of others.
local READY = byte('r')

local function noteGain(index, gain)
  if gain == 0 or byte(index) ~= READY or not isReadyIndex(index) then return end
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

-- A few are applied one by one, and so is whatever stands alone in its index; gathering pays only for many.
local function applyEntries()
  local isMany = waitingCount > FEW
  for i = 1, waitingCount do
    local index = waitingIndexes[i]
    if index then
      local count = isWaiting[index]
      if isMany and count and count > 1 then
        isWaiting[index] = nil
        applyIndex(index, i)
      else
        if count then isWaiting[index] = nil end
        applyEntry(index, waitingIds[i], waitingScores[i])
      end
    end
  end
  waitingCount = 0
end

-- Whoever reads an index sees what the operations before have changed in it.
applyIfWaiting = function(index)
  if isWaiting[index] then applyEntries() end
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
    local count = redisCall('RPUSH', prefix .. 'events', unpackList(waitingEvents, 1, waitingEventCount))
    local last = (redisCall('GET', prefix .. 'trimmed') or 0) + count
    growth = { first = last - waitingEventCount + 1, last = last, at = tx.now, ended = ended }
    waitingEventCount = 0
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
    end
  end
  for i = 1, entryCount do
    local at = waitingCount + i
    waitingIndexes[at], waitingIds[at], waitingScores[at] = entryIndexes[i], entryIds[i], entryScores[i]
    isWaiting[entryIndexes[i]] = (isWaiting[entryIndexes[i]] or 0) + 1
  end
  waitingCount = waitingCount + entryCount
  -- No record tells that an entry which was repaired changes a second time.
  if isRepairing then applyEntries() end
  for i = 1, blobCount do setDirty(blobKey(blobKeys[i]), blobBytes[i]) end
  for i = 1, eventCount do waitingEvents[waitingEventCount + i] = events[i] end
  waitingEventCount = waitingEventCount + eventCount
end
