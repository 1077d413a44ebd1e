/**
 * Turns the writes of batches into statements: one for each kind of change, whatever the number of partitions and rows.
 * Rows are sent as columns, blobs as one value that the server splits, the events of a batch as one row.
 *
 * The optimistic flush uses plain inserts and fails if the tables differ from what the batch read, as with a damaged
 * index. The fallback flush upserts, and is slower.
 */
import { packEvent, recordTypes } from '../../../kernel/index.ts'
import { cellsText } from '../../sql/record-text.ts'
import { bigintArray, integerArray, nameArray, textArray } from '../wire/arrays.ts'
import type { Statement } from '../wire/round-trip.ts'
import type { PartitionWrites } from './partition-writes.ts'
import { RecordStatements } from './record-statements.ts'

type Text = Omit<Statement, 'values'>

export class Flusher {
  readonly #records: readonly RecordStatements[]
  readonly #insertEntries: Text
  readonly #upsertEntries: Text
  readonly #deleteEntries: Text
  readonly #insertBlobs: Text
  readonly #deleteBlobs: Text
  readonly #insertEvents: Text
  readonly #setSequences: Text

  /** `schema` is a quoted name. */
  constructor(schema: string) {
    this.#records = recordTypes.map((type) => new RecordStatements(schema, type))
    const entries = 'unnest($1::integer[], $2::text[], $3::bigint[], $4::text[]) as k (partition, name, score, id)'
    const insertEntries = `insert into ${schema}.entry (partition, name, score, id)
      select partition, name, score, id from ${entries}`
    this.#insertEntries = { name: 'ff_insert_entry', text: insertEntries }
    // An entry that exists already is the wanted one.
    this.#upsertEntries = { name: 'ff_upsert_entry', text: `${insertEntries} on conflict do nothing` }
    this.#deleteEntries = {
      name: 'ff_delete_entry',
      text: `delete from ${schema}.entry e using ${entries}
        where e.partition = k.partition and e.name = k.name and e.score = k.score and e.id = k.id`,
    }
    this.#insertBlobs = {
      name: 'ff_insert_blob',
      text: `insert into ${schema}.blob (partition, key, bytes)
        select partition, key, substring($5::bytea from place for size)
        from unnest($1::integer[], $2::text[], $3::integer[], $4::integer[]) as k (partition, key, place, size)`,
    }
    this.#deleteBlobs = {
      name: 'ff_delete_blob',
      text: `delete from ${schema}.blob b using unnest($1::integer[], $2::text[]) as k (partition, key)
        where b.key = k.key and b.partition = k.partition`,
    }
    this.#insertEvents = {
      name: 'ff_insert_events',
      text: `insert into ${schema}.event_batch (partition, first_sequence, last_sequence, at, records)
        select partition, first_sequence, last_sequence, at, records
        from unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[])
          as k (partition, first_sequence, last_sequence, at, records)`,
    }
    this.#setSequences = {
      name: 'ff_set_sequence',
      text: `update ${schema}.partition p set last_sequence = k.last_sequence
        from unnest($1::integer[], $2::bigint[]) as k (number, last_sequence) where p.number = k.number`,
    }
  }

  statements(all: readonly PartitionWrites[], isFallback: boolean): Statement[] {
    return [
      ...this.#records.flatMap((records) => records.statements(all)),
      ...this.#writeEntries(all, isFallback),
      ...this.#writeBlobs(all, isFallback),
      ...this.#appendEvents(all),
    ]
  }

  #writeEntries(all: readonly PartitionWrites[], isFallback: boolean): Statement[] {
    const [removed, added] = [new EntryColumns(), new EntryColumns()]
    for (const { number, writes } of all) {
      for (const { index, id, before, after } of writes.entries) {
        if (before !== undefined) removed.add(number, index, before, id)
        if (after !== undefined) added.add(number, index, after, id)
      }
    }
    return [
      ...removed.statements(this.#deleteEntries),
      ...added.statements(isFallback ? this.#upsertEntries : this.#insertEntries),
    ]
  }

  #writeBlobs(all: readonly PartitionWrites[], isFallback: boolean): Statement[] {
    const blobs = all.flatMap(({ number, writes }) => writes.blobs.map((blob) => ({ number, ...blob })))
    const forgotten = blobs.filter(({ mayExist }) => mayExist || isFallback)
    const kept = blobs.flatMap(({ number, key, bytes }) => (bytes === undefined ? [] : [{ number, key, bytes }]))
    const statements: Statement[] = []
    if (forgotten.length > 0) {
      statements.push({
        ...this.#deleteBlobs,
        values: [integerArray(forgotten.map(({ number }) => number)), textArray(forgotten.map(({ key }) => key))],
      })
    }
    if (kept.length > 0) {
      // `substring` counts from one.
      let next = 1
      const places = kept.map(({ bytes }) => (next += bytes.byteLength) - bytes.byteLength)
      statements.push({
        ...this.#insertBlobs,
        values: [
          integerArray(kept.map(({ number }) => number)),
          textArray(kept.map(({ key }) => key)),
          integerArray(places),
          integerArray(kept.map(({ bytes }) => bytes.byteLength)),
          Buffer.concat(kept.map(({ bytes }) => bytes)),
        ],
      })
    }
    return statements
  }

  /** Takes sequences from the partition's row under its lock, so they rise without gaps in the order of commits. */
  #appendEvents(all: readonly PartitionWrites[]): Statement[] {
    const batches = all
      .filter(({ writes }) => writes.events.length > 0)
      .map(({ number, lastSequence, writes: { events } }) => ({
        number,
        first: lastSequence + 1,
        last: lastSequence + events.length,
        // All events of a batch have the same time.
        at: events[0]?.event.at,
        records: cellsText(events.map(({ event }) => packEvent(event))),
      }))
    if (batches.length === 0) return []
    const numbers = integerArray(batches.map(({ number }) => number))
    const firsts = bigintArray(batches.map(({ first }) => first))
    const lasts = bigintArray(batches.map(({ last }) => last))
    const ats = bigintArray(batches.map(({ at }) => at))
    const records = textArray(batches.map((batch) => batch.records))
    return [
      { ...this.#insertEvents, values: [numbers, firsts, lasts, ats, records] },
      { ...this.#setSequences, values: [numbers, lasts] },
    ]
  }
}

/** Index entries, collected column by column. */
class EntryColumns {
  readonly #numbers: number[] = []
  readonly #names: string[] = []
  readonly #scores: number[] = []
  readonly #ids: string[] = []

  add(number: number, name: string, score: number, id: string): void {
    this.#numbers.push(number)
    this.#names.push(name)
    this.#scores.push(score)
    this.#ids.push(id)
  }

  /** Returns no statement if there are no entries. */
  statements(text: Text): Statement[] {
    if (this.#numbers.length === 0) return []
    const values = [
      integerArray(this.#numbers),
      nameArray(this.#names),
      bigintArray(this.#scores),
      textArray(this.#ids),
    ]
    return [{ ...text, values }]
  }
}
