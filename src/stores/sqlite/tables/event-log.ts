/** The event log of one partition: reads pages and trims the oldest events. */
import type { StatementSync } from 'node:sqlite'
import { unpackEvent } from '../../../kernel/index.ts'
import type { Cell, Instant } from '../../../kernel/index.ts'
import { EVENT_SCAN_MAX } from '../../store.ts'
import type { EventHint, EventPage, StoredEvent } from '../../store.ts'
import type { Connection } from '../connection/connection.ts'

/** Limit of events that one transaction drops, so that other transactions run in between. */
const TRIM_COUNT_MAX = 5_000

export class EventLog {
  readonly #partition: number
  readonly #page: StatementSync
  readonly #hintedPage: StatementSync
  readonly #first: StatementSync
  readonly #last: StatementSync
  readonly #firstKept: StatementSync
  readonly #delete: StatementSync

  constructor(connection: Connection, partition: number) {
    this.#partition = partition
    this.#page = connection.prepare(
      'select sequence, record from event where partition = ? and sequence > ? order by sequence limit ?',
    )
    this.#hintedPage = connection.prepare(
      `select sequence, record from (
         select sequence, type, record, max(sequence) over () as last from (
           select sequence, type, record from event where partition = :partition and sequence > :after
           order by sequence limit ${EVENT_SCAN_MAX}
         )
       )
       where sequence in (:first, last)
         or (:types is null or type in (select value from json_each(:types)))
           and not exists (select 1 from json_each(:texts) where instr(record, json_each.value) = 0)
       order by sequence limit :limit`,
    )
    this.#first = connection.prepare('select sequence from event where partition = ? order by sequence limit 1')
    this.#last = connection.prepare('select last_sequence from partition where number = ?')
    this.#firstKept = connection.prepare(
      `select sequence from event where partition = ? and sequence >= ? and sequence < ? and at >= ?
       order by sequence limit 1`,
    )
    this.#delete = connection.prepare('delete from event where partition = ? and sequence < ?')
  }

  page(after: number, limit: number, hint?: EventHint): EventPage {
    const lastSequence = this.#lastSequence()
    const firstSequence = this.#firstSequence(lastSequence)
    const rows =
      hint === undefined
        ? this.#page.all(this.#partition, after, limit)
        : this.#hintedPage.all({
            partition: this.#partition,
            after,
            first: Math.max(after + 1, firstSequence),
            types: hint.types === undefined ? null : JSON.stringify(hint.types),
            texts: JSON.stringify(hint.texts.map((text) => JSON.stringify(text))),
            limit,
          })
    return { events: rows.map(readEvent), firstSequence, lastSequence }
  }

  /**
   * Drops events that are older than an instant or beyond a count, up to the first event that is neither and up to a
   * limit. Returns undefined once there is nothing more to drop.
   */
  trimSome(olderThan: Instant, keepCount: number): number | undefined {
    const lastSequence = this.#lastSequence()
    const firstSequence = this.#firstSequence(lastSequence)
    const end = Math.min(firstSequence + TRIM_COUNT_MAX, lastSequence + 1)
    const lastExcess = lastSequence - Math.max(0, keepCount)
    const kept = this.#firstKept.get(this.#partition, Math.max(firstSequence, lastExcess + 1), end, olderThan)
    const firstKept = (kept?.['sequence'] as number | undefined) ?? end
    if (firstKept === firstSequence) return undefined
    return Number(this.#delete.run(this.#partition, firstKept).changes)
  }

  /** The log has no gaps, so the first sequence of an empty log is the next one. */
  #firstSequence(lastSequence: number): number {
    return (this.#first.get(this.#partition)?.['sequence'] as number | undefined) ?? lastSequence + 1
  }

  /** Returns 0 for a partition without a row, which was never written. */
  #lastSequence(): number {
    return (this.#last.get(this.#partition)?.['last_sequence'] as number | undefined) ?? 0
  }
}

export function readEvent(row: Record<string, unknown>): StoredEvent {
  return { sequence: row['sequence'] as number, ...unpackEvent(JSON.parse(row['record'] as string) as Cell[]) }
}
