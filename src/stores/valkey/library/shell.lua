-- The transaction that the kernel sees inside the server. A call is a batch of operations for one partition: each runs on
-- reads of its own, collects its writes, and only when it has answered are they applied, so a refusal or a fault has
-- written nothing. Everything that a call touches has a key that begins with the partition's prefix.
local kernel, codec = bootKernel(), bootCodec(cmsgpack.pack, cmsgpack.unpack, unpack)

local redisCall, tonumber, pcall, error = redis.call, tonumber, pcall, error
local pack, unpackBytes, unpackList = cmsgpack.pack, cmsgpack.unpack, unpack
local operations, entriesOf = kernel.operations, kernel.entriesOf
local isReadyIndex, concernsHolder, comesBefore = kernel.isReadyIndex, kernel.concernsHolder, kernel.comesBefore
local DUE_INDEX = kernel.DUE_INDEX
local OPERATION_WORK_LIMIT, CALL_WORK_LIMIT = kernel.OPERATION_WORK_LIMIT, kernel.CALL_WORK_LIMIT
local CALL_REPLY_BYTES = kernel.CALL_REPLY_BYTES
local packers, unpackers, packEvent = codec.pack, codec.unpack, codec.packEvent

-- How many entries are passed over at a time when a range begins behind an entry that is gone.
local SKIP_PAGE = 100
-- What an argument list may hold on top of the command's own words.
local MANY_KEYS = 1000

-- Of the call.
local prefix, arguments, cache, replyBlobs, replyBytes, callWork
local readyGains, dueGain, dueHead, holders, hasEvents
-- Of the operation.
local firstBlob, blobCount, sentCount, work
local held, pending, pendingKeys
local entryIndexes, entryIds, entryScores, entryCount, touched
local blobs, blobKeys, events

local tx = {}

local function recordKey(type, id)
  return prefix .. type .. ':' .. id
end

local function indexKey(index)
  return prefix .. 'index:' .. index
end

local function blobKey(key)
  return prefix .. 'blob:' .. key
end

function tx:fault(reason, recordId)
  error({ reason = reason, recordId = recordId })
end

-- The stored form of a record as the operation sees it; false if there is none.
local function bytesOf(key)
  local bytes = pending[key]
  if bytes == nil then
    bytes = cache[key]
    if bytes == nil then
      bytes = redisCall('GET', key)
      cache[key] = bytes
    end
  end
  return bytes
end

-- A private copy. Its index entries are noted before anybody can change it.
local function read(type, key, bytes)
  local isReadable, record = pcall(unpackers[type], bytes)
  if not isReadable then return nil end
  if held[key] == nil then held[key] = entriesOf(record) end
  return record
end

function tx:get(type, id)
  local key = recordKey(type, id)
  local bytes = bytesOf(key)
  if not bytes then return nil end
  return read(type, key, bytes) or tx:fault('the record cannot be read', id)
end

-- Brings what is not known yet in one read.
local function fetch(keys)
  local missing = {}
  for i = 1, #keys do
    local key = keys[i]
    if pending[key] == nil and cache[key] == nil then missing[#missing + 1] = key end
  end
  if #missing < 2 then return end
  for first = 1, #missing, MANY_KEYS do
    local last = math.min(first + MANY_KEYS - 1, #missing)
    local found = redisCall('MGET', unpackList(missing, first, last))
    for i = first, last do cache[missing[i]] = found[i - first + 1] end
  end
end

-- What cannot be read is left out, so that one damaged record does not keep all others from being found.
function tx:getMany(type, ids)
  local keys, records = {}, {}
  for i = 1, #ids do keys[i] = recordKey(type, ids[i]) end
  fetch(keys)
  for i = 1, #keys do
    local bytes = bytesOf(keys[i])
    local record = bytes and read(type, keys[i], bytes)
    if record then records[#records + 1] = record end
  end
  return records
end

local function setEntry(index, id, score)
  entryCount = entryCount + 1
  entryIndexes[entryCount], entryIds[entryCount], entryScores[entryCount] = index, id, score or false
  touched[index] = true
end

local NONE = {}

local function write(type, id, key, bytes, after)
  if work >= OPERATION_WORK_LIMIT then tx:fault('the operation writes more records than it may', id) end
  work = work + 1
  local before = held[key]
  if before == nil then
    local stored = bytesOf(key)
    if stored and not read(type, key, stored) then tx:fault('the record cannot be read', id) end
    before = held[key] or NONE
  end
  if pending[key] == nil then pendingKeys[#pendingKeys + 1] = key end
  pending[key] = bytes
  held[key] = after
  for i = 1, #before do
    local index, isKept = before[i].index, false
    for j = 1, #after do
      if after[j].index == index then isKept = true break end
    end
    if not isKept then setEntry(index, before[i].id, nil) end
  end
  for i = 1, #after do
    local entry, isSame = after[i], false
    for j = 1, #before do
      if before[j].index == entry.index then isSame = before[j].score == entry.score break end
    end
    if not isSame then setEntry(entry.index, entry.id, entry.score) end
  end
end

function tx:put(record)
  local type, id = record.type, record.id
  write(type, id, recordKey(type, id), packers[type](record), entriesOf(record))
end

function tx:remove(type, id)
  write(type, id, recordKey(type, id), false, NONE)
end

function tx:repair(index, id, score)
  setEntry(index, id, score)
end

-- The earliest timer of the partition as it was before the call changed any.
local function readDueHead()
  local head = redisCall('ZRANGE', indexKey(DUE_INDEX), 0, 0, 'WITHSCORES')
  dueHead = head[2] and tonumber(head[2]) or math.huge
end

local function toEntries(index, reply, limit)
  local entries = {}
  for i = 1, #reply, 2 do
    if #entries == limit then break end
    entries[#entries + 1] = { index = index, id = reply[i], score = tonumber(reply[i + 1]) }
  end
  return entries
end

local function isBehind(range, score, id)
  local from = range.from
  if range.reverse then return comesBefore({ score = score, id = id }, from) end
  return comesBefore(from, { score = score, id = id })
end

-- Entries of one score stand in the order of their ids; a range may begin in the middle of them.
local function storedBehind(range, key, limit)
  local first, last = range.from.score, range.to or (range.reverse and '-inf' or '+inf')
  local entries, offset = {}, 0
  while #entries < limit do
    local reply
    if range.reverse then
      reply = redisCall('ZRANGE', key, first, last, 'BYSCORE', 'REV', 'LIMIT', offset, SKIP_PAGE, 'WITHSCORES')
    else
      reply = redisCall('ZRANGE', key, first, last, 'BYSCORE', 'LIMIT', offset, SKIP_PAGE, 'WITHSCORES')
    end
    for i = 1, #reply, 2 do
      local id, score = reply[i], tonumber(reply[i + 1])
      if #entries < limit and isBehind(range, score, id) then
        entries[#entries + 1] = { index = range.index, id = id, score = score }
      end
    end
    if #reply < 2 * SKIP_PAGE then break end
    offset = offset + SKIP_PAGE
  end
  return entries
end

local function storedRange(range, limit)
  local index, key = range.index, indexKey(range.index)
  local from, to, isReverse = range.from, range.to, range.reverse
  if limit <= 0 then return {} end
  if from and from.id then
    -- An entry that still stands where it was names its own place.
    local score = redisCall('ZSCORE', key, from.id)
    if not (score and tonumber(score) == from.score) then return storedBehind(range, key, limit) end
    local rank = redisCall(isReverse and 'ZREVRANK' or 'ZRANK', key, from.id) + 1
    local reply = redisCall(isReverse and 'ZREVRANGE' or 'ZRANGE', key, rank, rank + limit - 1, 'WITHSCORES')
    local entries = toEntries(index, reply, limit)
    while to and #entries > 0 do
      local last = entries[#entries].score
      if (isReverse and last >= to) or (not isReverse and last <= to) then break end
      entries[#entries] = nil
    end
    return entries
  end
  if not from and not to then
    return toEntries(index, redisCall(isReverse and 'ZREVRANGE' or 'ZRANGE', key, 0, limit - 1, 'WITHSCORES'), limit)
  end
  if isReverse then
    local first, last = from and from.score or '+inf', to or '-inf'
    return toEntries(index, redisCall('ZREVRANGEBYSCORE', key, first, last, 'WITHSCORES', 'LIMIT', 0, limit), limit)
  end
  if not from and index == DUE_INDEX then
    if not dueHead then readDueHead() end
    if dueHead > to then return {} end
  end
  local first, last = from and from.score or '-inf', to or '+inf'
  return toEntries(index, redisCall('ZRANGEBYSCORE', key, first, last, 'WITHSCORES', 'LIMIT', 0, limit), limit)
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
  if not touched[range.index] then return storedRange(range, range.limit) end
  local scores, count = changesOf(range.index)
  local entries = {}
  local stored = storedRange(range, range.limit + count)
  for i = 1, #stored do
    if scores[stored[i].id] == nil then entries[#entries + 1] = stored[i] end
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

function tx:scan(range, type)
  local ids, entries = {}, tx:range(range)
  for i = 1, #entries do ids[i] = entries[i].id end
  return tx:getMany(type, ids)
end

function tx:countUpTo(range)
  local from, to = range.from, range.to
  if touched[range.index] or range.reverse or (from and from.id) then return #tx:range(range) end
  local key, count = indexKey(range.index), nil
  if not from and not to then
    count = redisCall('ZCARD', key)
  else
    count = redisCall('ZCOUNT', key, from and from.score or '-inf', to or '+inf')
  end
  return math.min(count, range.limit)
end

function tx:score(index, id)
  if touched[index] then
    local score = changesOf(index)[id]
    if score ~= nil then return score or nil end
  end
  local score = redisCall('ZSCORE', indexKey(index), id)
  return score and tonumber(score) or nil
end

function tx:emit(event)
  events[#events + 1] = packEvent(event)
  if concernsHolder(event) then holders[#holders + 1] = event.executionId end
end

local function setBlob(key, bytes)
  if blobs[key] == nil then blobKeys[#blobKeys + 1] = key end
  blobs[key] = bytes
end

function tx:keep(key, blob)
  if blob < 0 or blob >= blobCount then tx:fault('a blob did not come with the call', key) end
  setBlob(key, arguments[firstBlob + blob])
end

function tx:forget(key)
  setBlob(key, false)
end

function tx:send(key)
  local bytes = blobs[key]
  if bytes == nil then bytes = redisCall('GET', blobKey(key)) end
  if not bytes then return nil end
  sentCount = sentCount + 1
  replyBlobs[#replyBlobs + 1] = bytes
  replyBytes = replyBytes + #bytes
  return sentCount - 1
end

function tx:room()
  return OPERATION_WORK_LIMIT - work
end

local function beginOperation(first, count)
  firstBlob, blobCount, sentCount, work = first, count, 0, 0
  held, pending, pendingKeys = {}, {}, {}
  entryIndexes, entryIds, entryScores, entryCount, touched = {}, {}, {}, 0, {}
  blobs, blobKeys, events = {}, {}, {}
end

local function applyEntry(index, id, score)
  if not score then
    redisCall('ZREM', indexKey(index), id)
    return
  end
  if index == DUE_INDEX then
    if not dueHead then readDueHead() end
    if not dueGain or score < dueGain then dueGain = score end
    redisCall('ZADD', indexKey(index), score, id)
  elseif redisCall('ZADD', indexKey(index), score, id) == 1 and isReadyIndex(index) then
    readyGains[index] = (readyGains[index] or 0) + 1
  end
end

-- All packing is done; nothing here can be refused.
local function apply()
  for i = 1, #pendingKeys do
    local key = pendingKeys[i]
    local bytes = pending[key]
    if bytes then redisCall('SET', key, bytes) else redisCall('DEL', key) end
    cache[key] = bytes
  end
  for i = 1, entryCount do applyEntry(entryIndexes[i], entryIds[i], entryScores[i]) end
  for i = 1, #blobKeys do
    local key = blobKeys[i]
    if blobs[key] then redisCall('SET', blobKey(key), blobs[key]) else redisCall('DEL', blobKey(key)) end
  end
  for i = 1, #events do redisCall('XADD', prefix .. 'events', '0-*', 'e', events[i]) end
  if #events > 0 then hasEvents = true end
end

-- An answer is a result and how many of the reply's blobs are its own, or false and what is at fault.
local function runOperation(name, input)
  local holderCount, replyCount, bytesBefore = #holders, #replyBlobs, replyBytes
  local succeeded, result = pcall(operations[name], tx, input)
  if succeeded then
    apply()
    callWork = callWork + work
    return { result, sentCount }
  end
  for i = #holders, holderCount + 1, -1 do holders[i] = nil end
  for i = #replyBlobs, replyCount + 1, -1 do replyBlobs[i] = nil end
  replyBytes = bytesBefore
  if type(result) == 'table' and result.reason then return { false, result.reason, result.recordId } end
  return { false, tostring(type(result) == 'table' and result.err or result), '' }
end

-- Tells other processes what they cannot wait for their next look to see. An index that had entries before has been told
-- of already, and a timer behind the first one will be seen when the first one is.
local function publish(channel, sender, ready)
  local woken = {}
  for i = 1, #ready do
    if redisCall('ZCARD', indexKey(ready[i])) <= readyGains[ready[i]] then woken[#woken + 1] = ready[i] end
  end
  local dueAt = dueGain and dueGain < dueHead and dueGain or false
  if #woken > 0 or dueAt or #holders > 0 then
    redisCall('SPUBLISH', channel .. 'wake', pack(sender, woken, dueAt, holders))
  end
  if hasEvents then redisCall('SPUBLISH', channel .. 'events', sender) end
end

-- keys: the prefix of the partition's keys and of its channels; neither is ever written, so a server that is handing the
-- partition over refuses the call as a whole. args: the time if it is not the server's, the sender, the packed calls,
-- then the blobs of all calls one after the other.
local function run(keys, args)
  prefix, arguments, cache, replyBlobs, replyBytes, callWork = keys[1], args, {}, {}, 0, 0
  readyGains, dueGain, dueHead, holders, hasEvents = {}, nil, nil, {}, false
  if args[1] == '' then
    local time = redisCall('TIME')
    tx.now = time[1] * 1000 + math.floor(time[2] / 1000)
  else
    tx.now = tonumber(args[1])
  end
  local calls = unpackBytes(args[3])
  local answers, nextBlob = {}, 4
  for i = 1, #calls do
    if callWork >= CALL_WORK_LIMIT or replyBytes >= CALL_REPLY_BYTES then break end
    local call = calls[i]
    beginOperation(nextBlob, call[3])
    answers[i] = runOperation(call[1], call[2])
    nextBlob = nextBlob + call[3]
  end
  local ready = {}
  for index in pairs(readyGains) do ready[#ready + 1] = index end
  if hasEvents or #ready > 0 or dueGain then publish(keys[2], args[2], ready) end
  local reply = { pack(answers, ready, dueGain or false, hasEvents, holders) }
  for i = 1, #replyBlobs do reply[i + 1] = replyBlobs[i] end
  return reply
end

return run
