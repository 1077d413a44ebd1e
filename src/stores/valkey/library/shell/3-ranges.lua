-- Index ranges: what is stored, and in front of it what the operation itself has changed.

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
  return isEntered[index]
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
