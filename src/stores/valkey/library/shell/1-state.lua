-- The transaction that the kernel sees inside the server. A call is a batch of operations for one partition. Each runs as
-- if alone: its writes join those of the call only when it has answered, so a refusal or a fault has written nothing. The
-- call applies them together at its end, or before an operation reads an index that they change. Everything that a call
-- touches has a key that begins with the partition's prefix.
--
-- A table that grows is made anew inside again and again, so what every operation needs is kept and emptied instead.

local kernel, layout = bootKernel(), bootLayout(struct.pack, struct.unpack, table.concat)

local redisCall, tonumber, pcall, error, type = redis.call, tonumber, pcall, error, type
local packNamed, unpackNamed = cmsgpack.pack, cmsgpack.unpack
local unpackList, byte, char, sub = unpack, string.byte, string.char, string.sub
local operations, workLimitOf, entriesOf = kernel.operations, kernel.workLimitOf, kernel.entriesOf
local isReadyIndex, comesBefore = kernel.isReadyIndex, kernel.comesBefore
local concernsHolder, tellsEnd = kernel.concernsHolder, kernel.tellsEnd
local DUE_INDEX = kernel.DUE_INDEX
local CALL_WORK_LIMIT, CALL_REPLY_BYTES = kernel.CALL_WORK_LIMIT, kernel.CALL_REPLY_BYTES
local READS_PER_UNIT = kernel.READS_PER_UNIT
local packers, unpackers, packEvents, packWake = layout.pack, layout.unpack, layout.packEvents, layout.packWake
local inputs, results, operationNames = layout.inputs, layout.results, layout.operationNames

-- How a call and an answer are to be read.
local WITH_NAMES, BY_LAYOUT, FAULT = layout.codes.withNames, layout.codes.byLayout, layout.codes.fault
-- What an argument list may hold on top of the command's own words.
local MANY_KEYS = 1000
-- How many names of index keys are remembered, over all partitions of the server.
local INDEX_KEYS_MAX = 10000
-- How many entries are applied one by one, and how many records are forgotten one by one.
local FEW = 8
-- What a text's length can say. Nothing that the limits of the kernel allow comes near it.
local PACKED_BYTES_MAX = 65535
local NONE = {}

-- Of the call.
local prefix, arguments, indexKeys, reply, replyCount, replyBytes, callWork
local readyIndexes, readyGains, dueGain, dueHead, holders, ended, growth
-- The form of every record that the call has met, by its key, as the call sees it; false if there is none.
local stored, storedCount = {}, 0
-- What the call has yet to write: records and blobs by their keys, entries in the order of their changes.
local dirty, dirtyCount, dirtyKeys = {}, 0, {}
local waitingCount, waitingIndexes, waitingIds, waitingScores = 0, {}, {}, {}
local isWaiting = {}
local waitingEventCount, waitingEvents = 0, {}
-- Of the operation: the records it has met, in the order in which it met them.
local slotOf, slotCount, slotKeys, slotTypes, slotEntries, slotWrites = {}, 0, {}, {}, {}, {}
local entryCount, entryIndexes, entryIds, entryScores = 0, {}, {}, {}
local isEntered = {}
local blobCount, blobKeys, blobBytes = 0, {}, {}
local eventCount, events = 0, {}
local firstBlob, givenCount, sentCount, work, workLimit, readCount, isRepairing

local indexKeysOf, indexKeyCount = {}, 0

local applyIfWaiting

local tx = {}

-- What follows the prefix of a key, by what the key holds. Keys are many, so their names are short.
local keyKinds = layout.keyKinds
local INDEX_KIND = keyKinds.index

local function recordKey(recordType, id)
  return prefix .. keyKinds[recordType] .. id
end

-- The first letter of an index that many share, such as those of a lane. What one execution or one flow has for itself is
-- hardly asked for twice, so its key is not worth remembering.
local SHARED = { [byte('r')] = true, [byte('l')] = true, [byte('c')] = true, [byte('d')] = true, [byte('p')] = true }

local function indexKey(index)
  if not SHARED[byte(index)] then return prefix .. INDEX_KIND .. index end
  local key = indexKeys[index]
  if not key then
    if indexKeyCount >= INDEX_KEYS_MAX then
      indexKeys, indexKeyCount = {}, 0
      indexKeysOf = { [prefix] = indexKeys }
    end
    key = prefix .. INDEX_KIND .. index
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
