-- The call: its operations one after the other, what others are told, and the reply.

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
  local holderCount, endedCount, bytesBefore = #holders, #ended, replyBytes
  workLimit = workLimitOf(name)
  local isDone, answerCode, answer = pcall(answerOf, name, code, argument)
  if isDone then
    commit()
    callWork = callWork + work
    return answerCode, answer
  end
  for i = #holders, holderCount + 1, -1 do holders[i] = nil end
  for i = #ended, endedCount + 1, -1 do ended[i] = nil end
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
  if waitingCount > 0 then isWaiting = {} end
  dirtyCount, waitingCount, waitingEventCount = 0, 0, 0
  reply, replyCount, replyBytes, callWork = { '', '', '' }, 2, 0, 0
  readyIndexes, readyGains, dueGain, dueHead, holders, ended, growth = {}, {}, nil, nil, {}, {}, nil
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
  -- Whatever cannot be said fails the call as a whole, before it has written anything.
  reply[2] = char(unpackList(codes))
  apply()
  if growth then
    reply[1] = packWake({ sender = args[2], ready = NONE, hasEvents = true, holdersOf = NONE, growth = growth })
    redisCall('SPUBLISH', keys[2] .. 'events', reply[1])
  end
  if #readyIndexes > 0 or dueGain or #holders > 0 then
    publishWake(keys[2], args[2])
    local hasEvents = growth ~= nil
    local wake = { sender = '', ready = readyIndexes, dueAt = dueGain, hasEvents = hasEvents, holdersOf = holders }
    wake.growth = growth
    reply[1] = packWake(wake)
  end
  return reply
end
