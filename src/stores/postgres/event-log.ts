/** The event log of a partition, stored as one row per batch: reads pages and trims the oldest events. */
import { eventTypes, unpackEvent } from '../../kernel/index.ts'
import type { Cell, Instant } from '../../kernel/index.ts'
import { cellsOf, cellsText } from '../sql/record-text.ts'
import { EVENT_SCAN_MAX } from '../store.ts'
import type { EventHint, EventPage, StoredEvent } from '../store.ts'
import type { Connection } from './wire/connection.ts'
import type { Statement } from './wire/round-trip.ts'
import type { Pool } from './wire/pool.ts'
import { sqlState } from './wire/postgres-error.ts'
import { textArray } from './wire/arrays.ts'
import { snapshot } from './transaction/snapshot-reader.ts'
import { BEGIN, COMMIT, SETTINGS, refuseUnlessCommitted } from './transaction/transaction.ts'

/** Limit of batches that one transaction drops, so that other transactions run in between. */
const TRIM_BATCHES_MAX = 500
/** The state of an error about a text that is no JSON. */
const NOT_JSON = '22P02'
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
  readonly #hintedPage: string
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
    // The elements of a JSON list are the texts between its commas: no character of them is decoded, as not all of them could be.
    this.#hintedPage = `with log as (${this.#page}),
      event as (
        select first_sequence + place - 1 as sequence, cells
        from log cross join lateral json_array_elements(records::json) with ordinality as e (cells, place)
      ),
      examined as (
        select sequence, cells::text as cells, min(sequence) over () as first, max(sequence) over () as last
        from event where sequence > $2 and sequence <= greatest($2::bigint + 1, (select first_sequence from log limit 1)) + $3
      )
      select sequence, '[' || cells || ']' from examined
      where sequence in (first, last)
        or ($5::text[] is null or split_part(substr(cells, 2), ',', 1) = any($5))
          and not exists (select 1 from unnest($6::text[]) needle where position(needle in cells) = 0)
      order by sequence limit $4`
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

  /** A batch that was damaged outside cannot be examined by the server, so a page with one is read as a whole. */
  async read(number: number, after: number, limit: number, hint?: EventHint): Promise<EventPage> {
    try {
      return await this.#read(number, after, limit, hint)
    } catch (error) {
      if (hint === undefined || sqlState(error) !== NOT_JSON) throw error
      return await this.#read(number, after, limit)
    }
  }

  async #read(number: number, after: number, limit: number, hint?: EventHint): Promise<EventPage> {
    const statement = this.#pageOf(number, after, limit, hint)
    const [bounds, page] = await this.#pool.use((connection) =>
      snapshot(connection, [this.#boundsOf(number), statement]),
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

  #pageOf(number: number, after: number, limit: number, hint: EventHint | undefined): Statement {
    if (hint === undefined) return { name: 'ff_read_events', text: this.#page, values: [number, after, limit] }
    const types = hint.types?.map((type) => String(eventTypes.findIndex((known) => known === type)))
    const texts = textArray(hint.texts.map((text) => JSON.stringify(text)))
    const values = [number, after, EVENT_SCAN_MAX, limit, types === undefined ? null : textArray(types), texts]
    return { name: 'ff_read_hinted_events', text: this.#hintedPage, values }
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
