/**
 * Loads what batches need: one statement for each kind of thing, whatever the number of partitions, things and batches.
 * As long as the server has no statistics of a table it takes it for a small one, and reads all of it if it may. So which
 * partition a thing is in comes with the thing, never as a constant, and what one row leads to is a query of its own, in
 * which everything that the index wants is known.
 */
import { CALL_REPLY_BYTES, payloadKey, recordTypes } from '../../kernel/index.ts'
import type { IndexEntry, Range, RecordType } from '../../kernel/index.ts'
import { flagArray, nameArray, numberArray, textArray } from './array-text.ts'
import { bytesOf } from './bytes.ts'
import type { Statement, StatementReply } from './connection.ts'
import type { Needs } from './needs.ts'
import type { WorkingSet } from './working-set.ts'

/** A payload up to this size is loaded with its execution; a larger one only once it is certain that it is wanted. */
export const SMALL_PAYLOAD_BYTES = 16_384
const SCORE_MIN = '-9223372036854775808'
const SCORE_MAX = '9223372036854775807'
/** Behind every id, in the order of bytes. */
const LAST_ID = '\u{10ffff}'

/** What is needed of one partition, and where it goes. */
export interface PartitionNeeds {
  readonly number: number
  readonly needs: Needs
  readonly into: WorkingSet
}

/** A statement and what to do with its reply. */
export interface LoadStep {
  readonly statement: Statement
  readonly take: (reply: StatementReply) => void
}

export class Loader {
  readonly #records: ReadonlyMap<RecordType, Omit<Statement, 'values'>>
  readonly #forward: Omit<Statement, 'values'>
  readonly #backward: Omit<Statement, 'values'>
  readonly #counts: { readonly forward: Omit<Statement, 'values'>; readonly backward: Omit<Statement, 'values'> }
  readonly #scores: Omit<Statement, 'values'>
  readonly #blobs: Omit<Statement, 'values'>

  /** `schema` is a quoted name. */
  constructor(schema: string) {
    this.#records = new Map(
      recordTypes.map((type) => [
        type,
        {
          name: `ff_load_record_${type}`,
          text: `select k.place, r.record
            from unnest($1::integer[], $2::text[]) with ordinality as k (partition, id, place)
            join ${schema}.${type} r on r.id = k.id and r.partition = k.partition`,
        },
      ]),
    )
    this.#forward = { name: 'ff_load_range', text: rangeText(schema, 'forward') }
    this.#backward = { name: 'ff_load_range_back', text: rangeText(schema, 'backward') }
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
      // A call stops when its reply is large enough, so those behind that are not asked for.
      text: `select place, is_stored, case when bytes_before < ${CALL_REPLY_BYTES} then bytes end
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

  /** Everything that all of them need, to be sent together. */
  steps(all: readonly PartitionNeeds[]): LoadStep[] {
    return [
      ...recordTypes.map((type) => this.#loadRecords(type, all)),
      this.#loadForward(all),
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
        for (const { id, into } of wanted) into.keepRecord(type, id, undefined)
        for (const [place, record] of rows as [number, string][]) {
          const found = wanted[place - 1]
          found?.into.keepRecord(type, found.id, record)
        }
      },
    }
  }

  #loadForward(all: readonly PartitionNeeds[]): LoadStep | undefined {
    const heads = all.flatMap(({ number, needs, into }) =>
      [...needs.heads.values()].map(({ index, limit, hasPayloads }): WantedRange => ({
        number,
        range: { index, limit },
        hasPayloads,
        into,
        keep: (entries) => into.keepHead(index, limit, entries),
      })),
    )
    return rangeStep(this.#forward, [...heads, ...pagesOf(all, 'forward')])
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
        for (const [i, { key, into }] of wanted.entries()) into.keepCount(key, rows[i]?.[0] as number)
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
      numberArray(wanted.map(({ score }) => score.expected)),
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

type Direction = 'forward' | 'backward'

interface WantedRange {
  readonly number: number
  readonly range: Range
  readonly hasPayloads: boolean
  readonly into: WorkingSet
  readonly keep: (entries: IndexEntry[]) => void
}

function pagesOf(all: readonly PartitionNeeds[], direction: Direction): WantedRange[] {
  return all.flatMap(({ number, needs, into }) =>
    [...needs.pages]
      .filter(([, range]) => directionOf(range) === direction)
      .map(([key, range]): WantedRange => ({
        number,
        range,
        hasPayloads: false,
        into,
        keep: (entries) => into.keepPage(key, entries),
      })),
  )
}

function rangeStep(statement: Omit<Statement, 'values'>, wanted: readonly WantedRange[]): LoadStep | undefined {
  if (wanted.length === 0) return undefined
  const values = [...rangeValues(wanted), flagArray(wanted.map(({ hasPayloads }) => hasPayloads))]
  return {
    statement: { ...statement, values },
    take: ({ rows }) => {
      const entries = wanted.map((): IndexEntry[] => [])
      for (const [place, score, id, record, isPayloadKnown, payload] of rows as RangeRow[]) {
        const found = wanted[place - 1]
        if (found === undefined) continue
        entries[place - 1]?.push({ index: found.range.index, score, id })
        found.into.keepRecord('execution', id, record ?? undefined)
        if (isPayloadKnown) found.into.keepBlob(payloadKey(id), payload === null ? undefined : bytesOf(payload))
      }
      for (const [i, { keep }] of wanted.entries()) keep(entries[i] ?? [])
    },
  }
}

type RangeRow = [
  place: number,
  score: number,
  id: string,
  record: string | null,
  isPayloadKnown: boolean,
  payload: Buffer | null,
]

function rangeText(schema: string, direction: Direction): string {
  const order = direction === 'forward' ? 'e.score, e.id' : 'e.score desc, e.id desc'
  return `select k.place, e.score, e.id, r.record,
      k.has_payloads and (b.bytes is null or octet_length(b.bytes) <= ${SMALL_PAYLOAD_BYTES}),
      case when octet_length(b.bytes) <= ${SMALL_PAYLOAD_BYTES} then b.bytes end
    from unnest($1::integer[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::integer[], $7::boolean[])
      with ordinality as k (partition, name, from_score, from_id, to_score, most, has_payloads, place)
    cross join lateral (
      select e.score, e.id from ${schema}.entry e where ${conditionOf(direction)} order by ${order} limit k.most
    ) e
    left join lateral (
      select r.record from ${schema}.execution r where r.id = e.id and r.partition = k.partition limit 1
    ) r on true
    left join lateral (
      select b.bytes from ${schema}.blob b
      where k.has_payloads and b.key = '${PAYLOAD_PREFIX}' || e.id and b.partition = k.partition limit 1
    ) b on true
    order by k.place, ${order}`
}

/** What comes before the id in the key of a payload. */
const PAYLOAD_PREFIX = payloadKey('')

function countText(schema: string, direction: Direction): string {
  return `select (
      select count(*) from (
        select 1 from ${schema}.entry e where ${conditionOf(direction)} limit k.most
      ) counted
    )
    from unnest($1::integer[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::integer[])
      with ordinality as k (partition, name, from_score, from_id, to_score, most, place)
    order by k.place`
}

function conditionOf(direction: Direction): string {
  const [past, within] = direction === 'forward' ? ['>', '<='] : ['<', '>=']
  return `e.partition = k.partition and e.name = k.name
    and (e.score, e.id) ${past} (k.from_score, k.from_id) and e.score ${within} k.to_score`
}

function directionOf({ reverse }: Range): Direction {
  return reverse === true ? 'backward' : 'forward'
}

/** The columns of `k` that describe a range. A range without a beginning begins before, or behind, every entry there can be. */
function rangeValues(wanted: readonly { readonly number: number; readonly range: Range }[]): string[] {
  const isBackward = wanted[0]?.range.reverse === true
  const [firstScore, lastScore, firstId] = isBackward ? [SCORE_MAX, SCORE_MIN, LAST_ID] : [SCORE_MIN, SCORE_MAX, '']
  return [
    numbersOf(wanted),
    nameArray(wanted.map(({ range }) => range.index)),
    `{${wanted.map(({ range }) => range.from?.score ?? firstScore).join(',')}}`,
    textArray(wanted.map(({ range }) => range.from?.id ?? firstId)),
    `{${wanted.map(({ range }) => range.to ?? lastScore).join(',')}}`,
    numberArray(wanted.map(({ range }) => range.limit)),
  ]
}

function numbersOf(wanted: readonly { readonly number: number }[]): string {
  return numberArray(wanted.map(({ number }) => number))
}
