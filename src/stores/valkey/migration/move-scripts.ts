/**
 * The steps of a migration that must be atomic. Each one stays within the keys of one partition, or within the settings, and
 * checks that what it replaces is still there. So a step that is repeated, late or run by two processes changes nothing.
 */

/**
 * KEYS: pairs of an old and a new key. ARGV: two for each pair. The value that was read and the value to write, for a record;
 * `rename` or `keep` and an empty text for any other key. Returns 1 or 0 for each pair: whether it was moved.
 *
 * A new key exists already only if a program of the old layout kept writing. Then it is replaced, except for `keep`.
 */
export const MOVE_KEYS = `
local moved = {}
for i = 1, #KEYS, 2 do
  local old, new, before, after = KEYS[i], KEYS[i + 1], ARGV[i], ARGV[i + 1]
  local isMoved = 0
  if after ~= '' then
    if redis.call('GET', old) == before then
      redis.call('SET', new, after)
      redis.call('DEL', old)
      isMoved = 1
    end
  elseif redis.call('EXISTS', old) == 1 then
    if before ~= 'keep' then redis.call('RENAME', old, new)
    elseif redis.call('RENAMENX', old, new) == 0 then redis.call('DEL', old) end
    isMoved = 1
  end
  moved[#moved + 1] = isMoved
end
return moved`

/**
 * KEYS: the old and the new key of an index. ARGV: old members, each with its score and the new member. Returns 1 if none is
 * left under the old key.
 */
export const MOVE_ENTRIES = `
for i = 1, #ARGV, 3 do
  local old, score, new = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if redis.call('ZSCORE', KEYS[1], old) == score then
    redis.call('ZADD', KEYS[2], score, new)
    redis.call('ZREM', KEYS[1], old)
  end
end
return 1 - redis.call('EXISTS', KEYS[1])`

/**
 * KEYS: the old and the new list of events. ARGV: the first event of the old list, how many the new one has, then the events to
 * append in place of as many first ones of the old list. Returns how many it moved.
 */
export const MOVE_EVENTS = `
if redis.call('LINDEX', KEYS[1], 0) ~= ARGV[1] or redis.call('LLEN', KEYS[2]) ~= tonumber(ARGV[2]) then return 0 end
redis.call('RPUSH', KEYS[2], unpack(ARGV, 3))
redis.call('LTRIM', KEYS[1], #ARGV - 2, -1)
return #ARGV - 2`
