/**
 * The payloads of NOTIFY by which processes of a store wake each other: short JSON on one channel. They are hints. A
 * payload that would be too long carries less; one that cannot be parsed means that anything may have changed. A new
 * format gets a new kind, so that older processes look everywhere.
 */
import { executionPartition } from '../../store.ts'
import type { Partition, Wake } from '../../store.ts'

/** The server refuses payloads of 8,000 bytes or more. */
export const PAYLOAD_MAX_BYTES = 7_999

export type NotifyPayload =
  /** A process committed writes; without wake-ups, anything may have changed. */
  | { readonly kind: 'changed'; readonly sender: string; readonly wakes?: readonly Wake[] | undefined }
  /** A submit was staged in the partition of this number. */
  | { readonly kind: 'staged'; readonly number: number }
  /** A process checks that its own notifications arrive. Others ignore it. */
  | { readonly kind: 'echo' }

/** Returns the channel of a store: one per schema. */
export function channelOf(schema: string): string {
  return `flowfabric_${schema}`
}

/** Returns a shorter payload if the wake-ups do not fit: receivers then look at whole partitions, or everywhere. */
export function changedPayload(sender: string, wakes: readonly Wake[]): string {
  const whole = JSON.stringify({ kind: 'changed', sender, wakes } satisfies NotifyPayload)
  if (fits(whole)) return whole
  const places = wakes.map(({ partition, dueAt, hasEvents, grown }): Wake => {
    return { partition, dueAt, hasEvents: hasEvents || grown !== undefined }
  })
  const short = JSON.stringify({ kind: 'changed', sender, wakes: places } satisfies NotifyPayload)
  return fits(short) ? short : JSON.stringify({ kind: 'changed', sender } satisfies NotifyPayload)
}

/** Names no sender: the process that stages has not woken its own listeners, so it must receive this too. */
export function stagedPayload(number: number): string {
  return JSON.stringify({ kind: 'staged', partition: executionPartition(number) })
}

/** Every echo of a sender has a distinct payload, so that the sender recognizes it. */
export function echoPayload(sender: string, count: number): string {
  return JSON.stringify({ kind: 'echo', sender, count })
}

/** Returns undefined if the payload is not known. `partitions` are those of the store, in their order. */
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
  const { partition, ready, dueAt, hasEvents, holdersOf, grown } = value
  return (
    partitions.some((known) => known === partition) &&
    isListOrLeftOut(ready, isText) &&
    (dueAt === undefined || Number.isSafeInteger(dueAt)) &&
    typeof hasEvents === 'boolean' &&
    isListOrLeftOut(holdersOf, isText) &&
    isListOrLeftOut(grown, isText)
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
