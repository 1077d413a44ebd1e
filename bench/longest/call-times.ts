/** How long a Valkey server was busy with each call of a function, as its slow log keeps it. */
import type { Server } from '../../test/servers/server.ts'

export interface CallTime {
  readonly kind: 'load' | 'commit'
  readonly micros: number
}

/** The log keeps so many entries: far more than one case makes. */
const ENTRY_LIMIT = 20_000
/**
 * Shorter commands are not logged. The server logs the commands inside a function too, and logging each of them would make
 * the function longer than it is.
 */
const SHORTEST_MICROS = 100
const NOTHING = -1
const KINDS = [
  ['load', '_load'],
  ['commit', '_commit'],
  ['commit', '_commit_when_full'],
] as const

/** Does something, and returns the times of the loads and commits that took the server 100 µs or more meanwhile. */
export async function callTimes(server: Server, work: () => Promise<unknown>): Promise<CallTime[]> {
  await server.call('CONFIG', 'SET', 'slowlog-max-len', ENTRY_LIMIT)
  await server.call('SLOWLOG', 'RESET')
  await server.call('CONFIG', 'SET', 'slowlog-log-slower-than', SHORTEST_MICROS)
  try {
    await work()
  } finally {
    await server.call('CONFIG', 'SET', 'slowlog-log-slower-than', NOTHING)
  }
  const entries = (await server.call('SLOWLOG', 'GET', ENTRY_LIMIT)) as SlowLogEntry[]
  if (entries.length === ENTRY_LIMIT) throw new Error('The slow log of the server is full, so that calls are missing.')
  return entries.flatMap(callTimeOf)
}

/** Number, time, microseconds, and the beginning of the command. */
type SlowLogEntry = readonly [id: number, at: number, micros: number, command: readonly string[]]

function callTimeOf([, , micros, [command = '', name = '']]: SlowLogEntry): CallTime[] {
  if (command.toUpperCase() !== 'FCALL') return []
  const kind = KINDS.find(([, suffix]) => name.endsWith(suffix))?.[0]
  return kind === undefined ? [] : [{ kind, micros }]
}
