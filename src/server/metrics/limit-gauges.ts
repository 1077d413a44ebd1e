/** What a scrape reads of limits. Keys are no labels, because there may be many: the 50 busiest of a limit are summed up. */
import type { Client } from '../../client/index.ts'
import type { Gauge, Metrics } from '../../runtime/index.ts'

export const limitHeld: Gauge<'limit'> = {
  kind: 'gauge',
  name: 'ff_limit_held_permits',
  help: 'Permits that are held, of the 50 busiest keys of a limit together.',
  labels: ['limit'],
}

export const limitWindowUsed: Gauge<'limit'> = {
  kind: 'gauge',
  name: 'ff_limit_window_used',
  help: 'The weight that started within the window of a rate, of the 50 busiest keys together. Absent without a rate.',
  labels: ['limit'],
}

export const limitConcurrency: Gauge<'limit'> = {
  kind: 'gauge',
  name: 'ff_limit_concurrency',
  help: 'The most permits of one key. Absent without such a limit.',
  labels: ['limit'],
}

export const limitRate: Gauge<'limit'> = {
  kind: 'gauge',
  name: 'ff_limit_rate',
  help: 'The weight of one key that may start within the window. Absent without a rate.',
  labels: ['limit'],
}

export const limitRoom: Gauge<'limit'> = {
  kind: 'gauge',
  name: 'ff_limit_room',
  help: 'Permits that the fullest of these keys still grants; 0 while an operator or a handler holds one back.',
  labels: ['limit'],
}

export const limitWaitingKeys: Gauge<'limit'> = {
  kind: 'gauge',
  name: 'ff_limit_waiting_keys',
  help: 'Keys that work waits for, of the 50 busiest.',
  labels: ['limit'],
}

export async function readLimits(client: Client, metrics: Metrics): Promise<void> {
  for (const { name: limit, concurrency, rate, held, used, room, waitingKeys } of await client.limits.uses()) {
    metrics.set(limitHeld, { limit }, held)
    metrics.set(limitWaitingKeys, { limit }, waitingKeys)
    if (concurrency !== undefined) metrics.set(limitConcurrency, { limit }, concurrency)
    if (rate !== undefined) metrics.set(limitRate, { limit }, rate)
    if (rate !== undefined) metrics.set(limitWindowUsed, { limit }, used)
    if (room !== undefined) metrics.set(limitRoom, { limit }, room)
  }
}
