/**
 * Whether the user may run every command that the store runs, and the server has it. Checked before anything is
 * written: a command that is refused in the middle of a commit would leave half of the commit behind.
 */
import { EngineError } from '../../../kernel/engine-error.ts'
import { executionPartition } from '../../store.ts'
import type { FunctionLoader } from '../library/function-loader.ts'
import type { Keys } from '../layout/keys.ts'

export async function checkPermissions(loader: FunctionLoader, keys: Keys, prefix: string): Promise<void> {
  const lines = JSON.stringify(commandLines(keys))
  const replies = await loader.callOnEachPrimary(loader.library.functions.permissions, [lines])
  const denied = new Set((replies as Buffer[][]).flat().map(String))
  if (denied.size === 0) return
  const commands = [...denied].join(', ')
  throw new EngineError('invalid_configuration', {
    field: 'location',
    message:
      `The user may not run ${commands} on the keys and channels of the store, which begin with "${prefix}:", ` +
      'or the server does not have it. docs/valkey.md lists what must be allowed.',
  })
}

/** Every command of the function library and of the store itself, on a key or a channel as the store has them. */
export function commandLines(keys: Keys): string[][] {
  const partition = executionPartition(0)
  const key = `${keys.partition(partition)}key`
  const channel = keys.wakeChannel(partition)
  return [
    ['TIME'],
    ['GET', key],
    ['MGET', key],
    ['GETRANGE', key, '0', '0'],
    ['STRLEN', key],
    ['SET', key, ''],
    ['MSET', key, ''],
    ['INCRBY', key, '1'],
    ['DEL', key],
    ['EXISTS', key],
    ['ZADD', key, '0', ''],
    ['ZREM', key, ''],
    ['ZCARD', key],
    ['ZCOUNT', key, '0', '0'],
    ['ZSCORE', key, ''],
    ['ZMSCORE', key, ''],
    ['ZRANK', key, ''],
    ['ZREVRANK', key, ''],
    ['ZRANGE', key, '0', '0'],
    ['ZREVRANGE', key, '0', '0'],
    ['RPUSH', key, ''],
    ['LLEN', key],
    ['LINDEX', key, '0'],
    ['LRANGE', key, '0', '0'],
    ['LTRIM', key, '0', '0'],
    ['SPUBLISH', channel, ''],
    ['SSUBSCRIBE', channel],
    ['SUNSUBSCRIBE', channel],
  ]
}
