/** What a commit has left on the server: events, entries of indexes, and messages to listeners. */
import { expect, onTestFinished } from 'vitest'
import type { CommitReply } from '../../src/stores/working-set/commit/backend.ts'
import { readEventValue } from '../../src/stores/valkey/layout/stored-value.ts'
import { until } from '../servers/until.ts'
import { PARTITION, jsonForm } from './library-calls.ts'
import type { LibraryPartition } from './library-calls.ts'

export const READY = 'ready\u001fmain\u001fgreet'
export const WITHIN_MS = 5_000

export function failedOf(reply: CommitReply): readonly number[] {
  return reply.kind === 'applied' ? reply.failed : expect.fail(`refused: ${reply.reason}`)
}

/** Subscribes to both channels. Returns a function that returns the messages since its last call. */
export async function listen(at: LibraryPartition): Promise<() => Promise<string[]>> {
  const subscriber = at.server.duplicate({ enableOfflineQueue: true })
  onTestFinished(() => subscriber.disconnect())
  const messages: string[] = []
  subscriber.on('smessage', (_: string, message: string) => messages.push(message))
  const channels = [at.keys.wakeChannel(PARTITION), at.keys.eventsChannel(PARTITION)]
  await subscriber.connect().catch(() => undefined)
  await subscriber.ssubscribe(...channels)
  return async () => {
    for (const channel of channels) await at.server.spublish(channel, 'end')
    await until('the end', WITHIN_MS, async () => messages.filter((message) => message === 'end')[1])
    return messages.splice(0).filter((message) => message !== 'end')
  }
}

export function membersOf(at: LibraryPartition, index: string): Promise<unknown> {
  return at.server.call('ZRANGE', at.key('index', index), 0, -1)
}

export async function eventsOf(at: LibraryPartition): Promise<{ at: number; id: string }[]> {
  const [, , found] = (await at.fcall('readLog', [0, 1_000])) as [number, number, Buffer[]]
  return found.map((value) => readEventValue(value, jsonForm)).map((e) => ({ at: e.at, id: e.executionId }))
}
