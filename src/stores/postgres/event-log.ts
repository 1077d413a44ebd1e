/** The event log of a partition, stored as one row per batch: reads pages and trims the oldest events. */
import { unpackEvent } from '../../kernel/index.ts'
import type { Cell, Instant } from '../../kernel/index.ts'
import { cellsOf, cellsText } from '../sql/record-text.ts'
import type { EventPage, StoredEvent } from '../store.ts'
import type { Connection } from './wire/connection.ts'
import type { Statement } from './wire/round-trip.ts'
import type { Pool } from './wire/pool.ts'
import { snapshot } from './transaction/snapshot-reader.ts'
import { BEGIN, COMMIT, SETTINGS, refuseUnlessCommitted } from './transaction/transaction.ts'

/** Limit of batches that one transaction drops, so that other transactions run in between. */
const TRIM_BATCHES_MAX = 500
/** Above the numbers of all partitions: a trim locks out only other trims of the same log. */
const TRIM_LOCKS_FROM = 1_000_000

interface BatchRow {
  readonly first: number
  readonly last: number
  readonly at: Instant
}

export class EventLog {
  readonly #pool: Pool
  readonly #lockSpace: number
  readonly #page: string
  readonly #bounds: string
  readonly #oldest: string
  readonly #records: string
  readonly #cut: string
  readonly #delete: string

  /** `schema` is a quoted name. */
  constructor(pool: Pool, schema: string, lockSpace: number) {
    this.#pool = pool
    this.#lockSpace = lockSpace
    // Every batch has at least one event, so `$3` batches are enough. If the events after `$2` were trimmed, the page
    // starts with the oldest that is left.
    this.#page = `select first_sequence, records from (
        select first_sequence, last_sequence, records, min(first_sequence) over () as oldest
        from (
          select first_sequence, last_sequence, records from ${schema}.event_batch
          where partition = $1 and last_sequence > $2 order by last_sequence limit $3
        ) b
      ) b
      where first_sequence < greatest($2::bigint + 1, oldest) + $3::bigint order by last_sequence`
    // The log has no gaps, so the first sequence of an empty log is the next one.
    this.#bounds = `select p.last_sequence, coalesce(
        (select b.first_sequence from ${schema}.event_batch b
          where b.partition = p.number order by b.last_sequence limit 1),
        p.last_sequence + 1)
      from ${schema}.partition p where p.number = $1`
    this.#oldest = `select first_sequence, last_sequence, at from ${schema}.event_batch
      where partition = $1 order by last_sequence limit $2`
    this.#records = `select records from ${schema}.event_batch where partition = $1 and last_sequence = $2`
    this.#cut = `update ${schema}.event_batch set first_sequence = $3, records = $4
      where partition = $1 and last_sequence = $2`
    this.#delete = `delete from ${schema}.event_batch where partition = $1 and last_sequence <= $2`
  }

  async read(number: number, after: number, limit: number): Promise<EventPage> {
    const [bounds, page] = await this.#pool.use((connection) =>
      snapshot(connection, [
        this.#boundsOf(number),
        { name: 'ff_read_events', text: this.#page, values: [number, after, limit] },
      ]),
    )
    const [lastSequence = 0, firstSequence = 1] = (bounds?.rows[0] ?? []) as number[]
    const events = (page?.rows ?? []).flatMap(eventsIn).filter(({ sequence }) => sequence > after)
    return { events: events.slice(0, limit), firstSequence, lastSequence }
  }

  /**
   * Drops events that are older than an instant or beyond a count, in steps. Stops at the first event that is neither.
   */
  async trim(number: number, olderThan: Instant, keepCount: number): Promise<number> {
    let trimmed = 0
    for (;;) {
      const step = await this.#pool.use((connection) => this.#trimSome(connection, number, olderThan, keepCount))
      trimmed += step.trimmed
      if (!step.hasMore) return trimmed
    }
  }

  /** Does nothing while another process trims the same log. */
  async #trimSome(
    connection: Connection,
    number: number,
    olderThan: Instant,
    keepCount: number,
  ): Promise<{ readonly trimmed: number; readonly hasMore: boolean }> {
    const [, , lock, bounds, oldest] = await connection.send([
      BEGIN,
      SETTINGS,
      this.#lock(number),
      this.#boundsOf(number),
      { name: 'ff_oldest_events', text: this.#oldest, values: [number, TRIM_BATCHES_MAX] },
    ])
    const batches = (oldest?.rows ?? []).map(([first, last, at]) => ({ first, last, at }) as BatchRow)
    const isLocked = lock?.rows[0]?.[0] === true
    const lastSequence = (bounds?.rows[0]?.[0] ?? 0) as number
    const lastExcess = lastSequence - Math.max(0, keepCount)
    const isDropped = ({ last, at }: BatchRow) => last <= lastExcess || at < olderThan
    const firstKept = batches.findIndex((batch) => !isDropped(batch))
    const dropped = firstKept === -1 ? batches : batches.slice(0, firstKept)
    const cut = batches.find((batch) => !isDropped(batch) && batch.first <= lastExcess)
    const statements: Statement[] = []
    let trimmed = 0
    if (isLocked && dropped.length > 0) {
      const end = dropped.at(-1)?.last ?? 0
      trimmed += end + 1 - (dropped[0]?.first ?? 0)
      statements.push({ name: 'ff_trim_events', text: this.#delete, values: [number, end] })
    }
    if (isLocked && cut !== undefined) {
      trimmed += lastExcess + 1 - cut.first
      statements.push(await this.#cutStatement(connection, number, cut, lastExcess + 1))
    }
    refuseUnlessCommitted(await connection.send([...statements, COMMIT]))
    return { trimmed, hasMore: isLocked && dropped.length === TRIM_BATCHES_MAX }
  }

  /** Keeps the events of a batch from a sequence on. */
  async #cutStatement(connection: Connection, number: number, batch: BatchRow, from: number): Promise<Statement> {
    const values = [number, batch.last]
    const [reply] = await connection.send([{ name: 'ff_events_to_cut', text: this.#records, values }])
    const kept = cellsOf(reply?.rows[0]?.[0] as string).slice(from - batch.first)
    return { name: 'ff_cut_events', text: this.#cut, values: [...values, from, cellsText(kept)] }
  }

  #boundsOf(number: number): Statement {
    return { name: 'ff_event_bounds', text: this.#bounds, values: [number] }
  }

  #lock(number: number): Statement {
    const text = 'select pg_try_advisory_xact_lock($1, $2)'
    return { name: 'ff_trim_lock', text, values: [this.#lockSpace, TRIM_LOCKS_FROM + number] }
  }
}

/** Unpacks a row of the first sequence of a batch and the stored events. */
export function eventsIn(row: readonly unknown[]): StoredEvent[] {
  const first = row[0] as number
  return cellsOf(row[1] as string).map((cells, i) => ({ sequence: first + i, ...unpackEvent(cells as Cell[]) }))
}
