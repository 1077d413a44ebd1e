/**
 * Wake-ups as the processes of a store tell them to each other: short JSON texts on one channel of the database. They are
 * hints, so a text that would be too long says less, and one that cannot be read means that anything may have changed.
 * Another shape of notice gets another kind: whoever does not know it looks everywhere.
 */
import { executionPartition } from '../../store.ts'
import type { Partition, Wake } from '../../store.ts'

/** The server takes no text of 8,000 bytes or more. */
export const PAYLOAD_MAX_BYTES = 7_999

export type NotifyPayload =
  /** A process has changed something; without wake-ups, anything anywhere. */
  | { readonly kind: 'changed'; readonly sender: string; readonly wakes?: readonly Wake[] | undefined }
  /** A submit was staged in the inbox of the partition of this number. */
  | { readonly kind: 'staged'; readonly number: number }
  /** A process makes sure that it hears what is said. Nobody else is meant. */
  | { readonly kind: 'echo' }

/** Where the processes of a store hear each other: every schema has a channel of its own. */
export function channelOf(schema: string): string {
  return `flowfabric_${schema}`
}

/** Where the wake-ups do not fit, listeners have to look everywhere in their partitions. */
export function changedPayload(sender: string, wakes: readonly Wake[]): string {
  const whole = JSON.stringify({ kind: 'changed', sender, wakes } satisfies NotifyPayload)
  if (fits(whole)) return whole
  const places = wakes.map(({ partition, dueAt, hasEvents }): Wake => ({ partition, dueAt, hasEvents }))
  const short = JSON.stringify({ kind: 'changed', sender, wakes: places } satisfies NotifyPayload)
  return fits(short) ? short : JSON.stringify({ kind: 'changed', sender } satisfies NotifyPayload)
}

/** It names no sender: whoever runs the caller's transaction has not told anybody yet. */
export function stagedPayload(number: number): string {
  return JSON.stringify({ kind: 'staged', partition: executionPartition(number) })
}

/** Each of one sender reads differently, so that it knows which one it hears. */
export function echoPayload(sender: string, count: number): string {
  return JSON.stringify({ kind: 'echo', sender, count })
}

/** What a notice says; undefined if it cannot be read. `partitions` are those that the store has, in their order. */
export function parsePayload(text: string, partitions: readonly Partition[]): NotifyPayload | undefined {
  const { kind, sender, wakes, partition } = parse(text)
  switch (kind) {
    case 'changed':
      if (typeof sender !== 'string' || !isListOrLeftOut(wakes, (wake) => isWake(wake, partitions))) return undefined
      return { kind, sender, wakes }
    case 'staged': {
      const number = partitions.findIndex((known) => known === partition)
      return number === -1 ? undefined : { kind, number }
    }
    case 'echo':
      return { kind }
    default:
      return undefined
  }
}

type Fields = Readonly<Record<string, unknown>>

function parse(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

function isWake(value: unknown, partitions: readonly Partition[]): value is Wake {
  if (!isObject(value)) return false
  const { partition, ready, dueAt, hasEvents, holdersOf } = value
  return (
    partitions.some((known) => known === partition) &&
    isListOrLeftOut(ready, isText) &&
    (dueAt === undefined || Number.isSafeInteger(dueAt)) &&
    typeof hasEvents === 'boolean' &&
    isListOrLeftOut(holdersOf, isText)
  )
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isListOrLeftOut<T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] | undefined {
  return value === undefined || (Array.isArray(value) && value.every(isItem))
}

function fits(text: string): boolean {
  return Buffer.byteLength(text) <= PAYLOAD_MAX_BYTES
}
