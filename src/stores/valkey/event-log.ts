/** The event log of a partition: a stream whose entries are numbered without gaps. */
import { decodeMulti } from '@msgpack/msgpack'
import { unpackEvent } from '../../kernel/index.ts'
import type { Cell, Instant } from '../../kernel/index.ts'
import type { EventPage, Partition, StoredEvent } from '../store.ts'
import type { Connection } from './connection.ts'
import type { Keys } from './keys.ts'

/** Entries that one command removes at most, so that trimming a long log does not hold up the server. */
const TRIM_STEP = 10_000

type Entry = readonly [id: Buffer, fields: readonly Buffer[]]

export class EventLog {
  readonly #connection: Connection
  readonly #keys: Keys

  constructor(connection: Connection, keys: Keys) {
    this.#connection = connection
    this.#keys = keys
  }

  /** The page is read before the bounds: what is trimmed in between is then told as trimmed. */
  async read(partition: Partition, after: number, limit: number): Promise<EventPage> {
    const events = await this.#entries(partition, after, limit)
    return { events, ...(await this.#bounds(partition)) }
  }

  async trim(partition: Partition, olderThan: Instant, keepCount: number): Promise<number> {
    const { firstSequence, lastSequence } = await this.#bounds(partition)
    let keepFrom = Math.max(firstSequence, lastSequence + 1 - keepCount)
    keepFrom = await this.#firstFrom(partition, olderThan, keepFrom, lastSequence + 1)
    let trimmed = 0
    for (let upTo = firstSequence; upTo < keepFrom;) {
      upTo = Math.min(keepFrom, upTo + TRIM_STEP)
      trimmed += Number(await this.#connection.send('XTRIM', this.#keys.events(partition), 'MINID', '=', `0-${upTo}`))
    }
    return trimmed
  }

  /** The first event that is not older than an instant, between two numbers. Times rise with the numbers, as clocks allow. */
  async #firstFrom(partition: Partition, olderThan: Instant, low: number, high: number): Promise<number> {
    if (low < high && (await this.#timeAt(partition, low)) >= olderThan) return low
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if ((await this.#timeAt(partition, middle)) < olderThan) low = middle + 1
      else high = middle
    }
    return low
  }

  async #timeAt(partition: Partition, sequence: number): Promise<Instant> {
    const [event] = await this.#entries(partition, sequence - 1, 1)
    return event?.at ?? Infinity
  }

  async #entries(partition: Partition, after: number, limit: number): Promise<StoredEvent[]> {
    const from = `(0-${Math.max(0, after)}`
    const key = this.#keys.events(partition)
    const reply = await this.#connection.sendForBytes('XRANGE', key, from, '+', 'COUNT', limit)
    return (reply as Entry[]).map(readEntry)
  }

  async #bounds(partition: Partition): Promise<Pick<EventPage, 'firstSequence' | 'lastSequence'>> {
    const info = await this.#info(partition)
    const lastSequence = sequenceOf(info.get('last-generated-id') ?? '0-0')
    const first = info.get('first-entry')
    return { firstSequence: first === undefined ? lastSequence + 1 : sequenceOf(first), lastSequence }
  }

  async #info(partition: Partition): Promise<Map<string, string>> {
    const info = new Map<string, string>()
    let reply: unknown
    try {
      reply = await this.#connection.send('XINFO', 'STREAM', this.#keys.events(partition))
    } catch (error) {
      if (error instanceof Error && error.message.includes('no such key')) return info
      throw error
    }
    const values = reply as (string | number | readonly unknown[] | null)[]
    for (let i = 0; i + 1 < values.length; i += 2) {
      const value = values[i + 1]
      if (value === null || value === undefined) continue
      info.set(String(values[i]), Array.isArray(value) ? String(value[0]) : String(value))
    }
    return info
  }
}

function sequenceOf(id: string): number {
  return Number(id.slice(id.indexOf('-') + 1))
}

function readEntry([id, [, packed]]: Entry): StoredEvent {
  const cells = [...decodeMulti(packed ?? Buffer.alloc(0))] as Cell[]
  return { sequence: sequenceOf(id.toString()), ...unpackEvent(cells) }
}
