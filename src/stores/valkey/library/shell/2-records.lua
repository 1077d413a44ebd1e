-- Records: how an operation reads them, and what of its writes becomes of their index entries.

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

local function readStored(slot, bytes)
  local record = unpackers[slotTypes[slot]](bytes)
  if not slotEntries[slot] then slotEntries[slot] = entriesOf(record) end
  return record
end

-- A private copy. Its index entries are noted before anybody can change it. Bytes that are none of a record make none,
-- be it that they cannot be unpacked or that what they hold has no place in an index.
local function read(slot, bytes)
  local isReadable, record = pcall(readStored, slot, bytes)
  return isReadable and record or nil
end

function tx:get(recordType, id)
  readCount = readCount + 1
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
  readCount = readCount + #ids
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
  isEntered[index] = true
  entryIndexes[entryCount], entryIds[entryCount], entryScores[entryCount] = index, id, score or false
end

local function entryOf(entries, index, id)
  for i = 1, #entries do
    local entry = entries[i]
    if entry.index == index and entry.id == id then return entry end
  end
  return nil
end

-- A record counts once, however often the operation writes it.
local function write(recordType, id, bytes, after)
  local key = recordKey(recordType, id)
  local slot = slotFor(key, recordType)
  local isAgain = slotWrites[slot] ~= nil
  if not isAgain then
    if work >= workLimit then tx:fault('the operation writes more records than it may', id) end
    work = work + 1
  end
  local before = slotEntries[slot]
  if not before then
    local old = bytesOf(slot, key)
    if old and not read(slot, old) then tx:fault('the record cannot be read', id) end
    before = slotEntries[slot] or NONE
  end
  slotWrites[slot], slotEntries[slot] = bytes, after
  -- Entries of the same index mostly stand in the same place, so that is where it is looked first. Under which id they stand
  -- is for them to say: it need not be the record's, and a record may stand in one index under several.
  for i = 1, #before do
    local entry, other = before[i], after[i]
    local index, id = entry.index, entry.id
    if not (other and other.index == index and other.id == id) and not entryOf(after, index, id) then
      setEntry(index, id, nil, isAgain)
    end
  end
  for i = 1, #after do
    local entry, other = after[i], before[i]
    local index, id = entry.index, entry.id
    if not (other and other.index == index and other.id == id) then other = entryOf(before, index, id) end
    if not (other and other.score == entry.score) then setEntry(entry.index, entry.id, entry.score, isAgain) end
  end
end

-- A text that is longer than its length can say would make nonsense of everything behind it.
local function checked(bytes, id)
  if #bytes > PACKED_BYTES_MAX then tx:fault('a text is too long to be stored', id) end
  return bytes
end

function tx:put(record)
  local recordType, id = record.type, record.id
  write(recordType, id, checked(packers[recordType](record), id), entriesOf(record))
end

function tx:remove(recordType, id)
  write(recordType, id, false, NONE)
end

function tx:repair(index, id, score)
  isRepairing = true
  setEntry(index, id, score, true)
end
