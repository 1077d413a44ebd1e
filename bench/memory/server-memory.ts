/** How much memory a Valkey server spends on data, and how much of that on event logs. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Server } from '../../test/servers/server.ts'
import { readInfo } from '../server-info.ts'

export interface ServerMemory {
  readonly bytes: number
  /** What is kept of what happened. */
  readonly eventBytes: number
  readonly eventCount: number
}

const LOOK_EVERY_MS = 200
const LOOK_LIMIT = 50
/** Buffers of connections come and go; a difference below this is not data. */
const SETTLED_BYTES = 1_024
const SCAN_COUNT = 10_000

/** Waits until tables that grow have been moved, and looks then. */
export async function settledMemory(server: Server): Promise<ServerMemory> {
  let bytes = await dataBytes(server)
  for (let looks = 0; looks < LOOK_LIMIT; looks++) {
    await sleep(LOOK_EVERY_MS)
    const before = bytes
    bytes = await dataBytes(server)
    if (Math.abs(bytes - before) < SETTLED_BYTES) return { bytes, ...(await eventLogs(server)) }
  }
  throw new Error('The memory of the server does not settle.')
}

/** Everything but the buffers of connections and of the log. */
async function dataBytes(server: Server): Promise<number> {
  const info = await readInfo(server, ['memory'])
  return info.number('used_memory') - info.number('mem_clients_normal') - info.number('mem_aof_buffer')
}

/** Matches the key of the event log, which is a list in FlowFabric and a stream in BullMQ. Ours carries a layout number. */
const EVENT_LOG_KEYS = '*:events*'

async function eventLogs(server: Server): Promise<Pick<ServerMemory, 'eventBytes' | 'eventCount'>> {
  let [eventBytes, eventCount] = [0, 0]
  let cursor = '0'
  do {
    const page = await server.call('SCAN', cursor, 'COUNT', SCAN_COUNT, 'MATCH', EVENT_LOG_KEYS)
    const [next, keys] = page as [string, string[]]
    for (const key of keys) {
      const isStream = (await server.call('TYPE', key)) === 'stream'
      eventBytes += Number(await server.call('MEMORY', 'USAGE', key, 'SAMPLES', 0))
      eventCount += Number(await server.call(isStream ? 'XLEN' : 'LLEN', key))
    }
    cursor = next
  } while (cursor !== '0')
  return { eventBytes, eventCount }
}
