/** The event log of a partition: pages of it, and trimming it from its old end. */
import { unpackEvent } from '../../kernel/index.ts'
import type { Instant } from '../../kernel/index.ts'
import { cellsOf } from '../record-text.ts'
import type { EventPage, StoredEvent } from '../store.ts'
import type { Statement } from './connection.ts'
import type { Pool } from './pool.ts'
import { snapshot } from './read-side.ts'
import { COMMIT } from './transaction.ts'

/** Events that one transaction drops at most, so that others get their turn in between. */
const TRIM_COUNT_MAX = 5_000
/** Behind the numbers of all partitions: whoever trims keeps only others from trimming the same log. */
const TRIM_LOCKS_FROM = 1_000_000

export class EventLog {
  readonly #pool: Pool
  readonly #lockSpace: number
  readonly #page: string
  readonly #bounds: string
  readonly #firstKept: string
  readonly #delete: string

  /** `schema` is a quoted name. */
  constructor(pool: Pool, schema: string, lockSpace: number) {
    this.#pool = pool
    this.#lockSpace = lockSpace
    this.#page = `select e.sequence, e.record from ${schema}.event e
      where e.partition = $1 and e.sequence > $2 order by e.sequence limit $3`
    // The log has no gaps, so after everything was trimmed the first event is the one that comes next.
    this.#bounds = `select p.last_sequence, coalesce(
        (select e.sequence from ${schema}.event e where e.partition = p.number order by e.sequence limit 1),
        p.last_sequence + 1)
      from ${schema}.partition p where p.number = $1`
    this.#firstKept = `select e.sequence from ${schema}.event e
      where e.partition = $1 and e.sequence >= $2 and e.sequence < $3 and e.at >= $4 order by e.sequence limit 1`
    this.#delete = `delete from ${schema}.event where partition = $1 and sequence < $2`
  }

  async read(number: number, after: number, limit: number): Promise<EventPage> {
    const [bounds, page] = await this.#pool.use((connection) =>
      snapshot(connection, [
        this.#boundsOf(number),
        { name: 'ff_read_events', text: this.#page, values: [number, after, limit] },
      ]),
    )
    const [lastSequence = 0, firstSequence = 1] = (bounds?.rows[0] ?? []) as number[]
    return { events: (page?.rows ?? []).map(readEvent), firstSequence, lastSequence }
  }

  /** Drops what is older than an instant or beyond a count, up to the first event that is neither, in steps. */
  async trim(number: number, olderThan: Instant, keepCount: number): Promise<number> {
    let trimmed = 0
    for (;;) {
      const step = await this.#trimSome(number, olderThan, keepCount)
      trimmed += step
      if (step < TRIM_COUNT_MAX) return trimmed
    }
  }

  /** If somebody else is trimming the log just now, there is nothing left to do here. */
  #trimSome(number: number, olderThan: Instant, keepCount: number): Promise<number> {
    return this.#pool.use(async (connection) => {
      const begun = await connection.send([BEGIN, this.#lock(number), this.#boundsOf(number)])
      const [lastSequence = 0, firstSequence = 1] = (begun[2]?.rows[0] ?? []) as number[]
      const end = Math.min(firstSequence + TRIM_COUNT_MAX, lastSequence + 1)
      const from = Math.max(firstSequence, lastSequence - Math.max(0, keepCount) + 1)
      if (begun[1]?.rows[0]?.[0] !== true || end <= firstSequence) {
        await connection.send([COMMIT])
        return 0
      }
      const found = await connection.send([
        { name: 'ff_first_kept', text: this.#firstKept, values: [number, from, end, olderThan] },
      ])
      const firstKept = (found[0]?.rows[0]?.[0] as number | undefined) ?? end
      const replies = await connection.send([
        { name: 'ff_trim_events', text: this.#delete, values: [number, firstKept] },
        COMMIT,
      ])
      return replies[0]?.rowCount ?? 0
    })
  }

  #boundsOf(number: number): Statement {
    return { name: 'ff_event_bounds', text: this.#bounds, values: [number] }
  }

  #lock(number: number): Statement {
    const text = 'select pg_try_advisory_xact_lock($1, $2)'
    return { name: 'ff_trim_lock', text, values: [this.#lockSpace, TRIM_LOCKS_FROM + number] }
  }
}

const BEGIN: Statement = { name: 'ff_begin_trim', text: 'begin isolation level read committed' }

/** A row of a sequence and the stored form of an event. */
export function readEvent(row: readonly unknown[]): StoredEvent {
  return { sequence: row[0] as number, ...unpackEvent(cellsOf(row[1] as string)) }
}
