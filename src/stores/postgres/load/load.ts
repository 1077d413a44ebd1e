/**
 * Loads what batches need: one statement for each kind of read, whatever the number of partitions, keys and batches.
 * A table without statistics is planned as a small one and may be scanned as a whole. So the partition is a column of
 * the keys, never a constant, and every dependent lookup is a lateral query by the full key of an index.
 */
import { BATCH_REPLY_BYTES, recordTypes } from '../../../kernel/index.ts'
import type { IndexEntry, RecordType } from '../../../kernel/index.ts'
import { bigintArray, nameArray, textArray } from '../wire/arrays.ts'
import { bytesOf } from '../wire/round-trip.ts'
import type { Statement } from '../wire/round-trip.ts'
import { journalIndexOf, journalStep, journalText } from './load-journal.ts'
import { countText, directionOf, numbersOf, rangeStep, rangeText, rangeValues } from './load-range.ts'
import type { Direction, LoadStep, WantedRange } from './load-range.ts'
import type { Needs } from '../../working-set/load/needs.ts'
import type { WorkingSet } from '../../working-set/load/working-set.ts'

/** The missing reads of one partition, and the working set that receives them. */
export interface PartitionNeeds {
  readonly number: number
  readonly needs: Needs
  readonly into: WorkingSet
}

export class Loader {
  readonly #records: ReadonlyMap<RecordType, Omit<Statement, 'values'>>
  readonly #forward: Omit<Statement, 'values'>
  readonly #backward: Omit<Statement, 'values'>
  readonly #journal: Omit<Statement, 'values'>
  readonly #counts: { readonly forward: Omit<Statement, 'values'>; readonly backward: Omit<Statement, 'values'> }
  readonly #scores: Omit<Statement, 'values'>
  readonly #blobs: Omit<Statement, 'values'>

  /** `schema` is a quoted name. */
  constructor(schema: string) {
    this.#records = new Map(
      recordTypes.map((type) => [type, { name: `ff_load_record_${type}`, text: recordsText(schema, type) }]),
    )
    this.#forward = { name: 'ff_load_range', text: rangeText(schema, 'forward') }
    this.#backward = { name: 'ff_load_range_back', text: rangeText(schema, 'backward') }
    this.#journal = { name: 'ff_load_journal', text: journalText(schema) }
    this.#counts = {
      forward: { name: 'ff_count', text: countText(schema, 'forward') },
      backward: { name: 'ff_count_back', text: countText(schema, 'backward') },
    }
    this.#scores = {
      name: 'ff_load_score',
      text: `select coalesce(
          (select e.score from ${schema}.entry e
            where e.partition = k.partition and e.name = k.name and e.score = k.expected and e.id = k.id),
          (select e.score from ${schema}.entry e
            where e.partition = k.partition and e.name = k.name and e.id = k.id order by e.score limit 1))
        from unnest($1::integer[], $2::text[], $3::text[], $4::bigint[]) with ordinality
          as k (partition, name, id, expected, place)
        order by k.place`,
    }
    this.#blobs = {
      name: 'ff_load_blob',
      // An operation stops once its reply is large enough, so later blobs are not loaded.
      text: `select place, is_stored, case when bytes_before < ${BATCH_REPLY_BYTES} then bytes end
        from (
          select k.place, b.key is not null as is_stored, b.bytes,
            coalesce(
              sum(octet_length(b.bytes)) over (
                partition by k.partition order by k.place rows between unbounded preceding and 1 preceding),
              0) as bytes_before
          from unnest($1::integer[], $2::text[]) with ordinality as k (partition, key, place)
          left join ${schema}.blob b on b.key = k.key and b.partition = k.partition
        ) b`,
    }
  }

  /** Returns the statements for all needs, to be sent together. */
  steps(all: readonly PartitionNeeds[]): LoadStep[] {
    return [
      ...recordTypes.map((type) => this.#loadRecords(type, all)),
      ...this.#loadForward(all),
      this.#loadBackward(all),
      this.#loadCounts(all, 'forward'),
      this.#loadCounts(all, 'backward'),
      this.#loadScores(all),
      this.#loadBlobs(all),
    ].filter((step) => step !== undefined)
  }

  #loadRecords(type: RecordType, all: readonly PartitionNeeds[]): LoadStep | undefined {
    const wanted = all.flatMap(({ number, needs, into }) =>
      [...(needs.records.get(type) ?? [])].map((id) => ({ number, id, into })),
    )
    const statement = this.#records.get(type)
    if (wanted.length === 0 || statement === undefined) return undefined
    return {
      statement: { ...statement, values: [numbersOf(wanted), textArray(wanted.map(({ id }) => id))] },
      take: ({ rows }) => {
        for (const { id, into } of wanted) into.keepText(type, id, undefined)
        for (const [place, record, flowId, flow] of rows as RecordRow[]) {
          const found = wanted[place - 1]
          found?.into.keepText(type, found.id, record)
          if (typeof flowId === 'string') found?.into.keepText('flow', flowId, flow ?? undefined)
        }
      },
    }
  }

  #loadForward(all: readonly PartitionNeeds[]): (LoadStep | undefined)[] {
    const heads = all.flatMap(({ number, needs, into }) =>
      [...needs.heads.values()].map(({ index, limit: most, hasPayloads, to }): WantedRange => {
        const limit = to === 'now' ? 1 : most
        const keep = (entries: readonly IndexEntry[]) => into.keepHead(index, limit, entries)
        return { number, range: { index, limit }, hasPayloads, into, keep }
      }),
    )
    const wanted = [...heads, ...pagesOf(all, 'forward')]
    const others = wanted.filter(({ range }) => journalIndexOf(range.index) === undefined)
    return [rangeStep(this.#forward, others), journalStep(this.#journal, wanted)]
  }

  #loadBackward(all: readonly PartitionNeeds[]): LoadStep | undefined {
    return rangeStep(this.#backward, pagesOf(all, 'backward'))
  }

  #loadCounts(all: readonly PartitionNeeds[], direction: Direction): LoadStep | undefined {
    const wanted = all.flatMap(({ number, needs, into }) =>
      [...needs.counts]
        .filter(([, range]) => directionOf(range) === direction)
        .map(([key, range]) => ({ number, key, range, into })),
    )
    if (wanted.length === 0) return undefined
    return {
      statement: { ...this.#counts[direction], values: rangeValues(wanted) },
      take: ({ rows }) => {
        for (const [i, { key, range, into }] of wanted.entries()) into.keepCount(key, range, rows[i]?.[0] as number)
      },
    }
  }

  #loadScores(all: readonly PartitionNeeds[]): LoadStep | undefined {
    const wanted = all.flatMap(({ number, needs, into }) =>
      [...needs.scores].map(([key, score]) => ({ number, key, score, into })),
    )
    if (wanted.length === 0) return undefined
    const values = [
      numbersOf(wanted),
      nameArray(wanted.map(({ score }) => score.index)),
      textArray(wanted.map(({ score }) => score.id)),
      bigintArray(wanted.map(({ score }) => score.expected)),
    ]
    return {
      statement: { ...this.#scores, values },
      take: ({ rows }) => {
        for (const [i, { key, into }] of wanted.entries()) {
          into.keepScore(key, (rows[i]?.[0] as number | null | undefined) ?? undefined)
        }
      },
    }
  }

  #loadBlobs(all: readonly PartitionNeeds[]): LoadStep | undefined {
    const wanted = all.flatMap(({ number, needs, into }) => [...needs.blobs].map((key) => ({ number, key, into })))
    if (wanted.length === 0) return undefined
    return {
      statement: { ...this.#blobs, values: [numbersOf(wanted), textArray(wanted.map(({ key }) => key))] },
      take: ({ rows }) => {
        for (const [place, isStored, bytes] of rows as [number, boolean, Buffer | null][]) {
          const found = wanted[place - 1]
          if (bytes !== null) found?.into.keepBlob(found.key, bytesOf(bytes))
          else if (!isStored) found?.into.keepBlob(found.key, undefined)
        }
      },
    }
  }
}

type RecordRow = [place: number, record: string, flowId?: string | null, flow?: string | null]

/** An execution that belongs to a flow is loaded with the flow: operations always read both. */
function recordsText(schema: string, type: RecordType): string {
  const keys = 'unnest($1::integer[], $2::text[]) with ordinality as k (partition, id, place)'
  const found = `join ${schema}.${type} r on r.id = k.id and r.partition = k.partition`
  if (type !== 'execution') return `select k.place, r.record from ${keys} ${found}`
  return `select k.place, r.record, r.flow_id, f.record from ${keys} ${found}
    left join ${schema}.flow f on f.id = r.flow_id and f.partition = k.partition`
}

function pagesOf(all: readonly PartitionNeeds[], direction: Direction): WantedRange[] {
  return all.flatMap(({ number, needs, into }) =>
    [...needs.pages]
      .filter(([, { range }]) => directionOf(range) === direction)
      .map(([key, { range, hasPayloads }]): WantedRange => ({
        number,
        range,
        hasPayloads,
        into,
        keep: (entries) => into.keepPage(key, range, entries),
      })),
  )
}
