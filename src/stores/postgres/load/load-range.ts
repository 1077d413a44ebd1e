/**
 * Loads ranges of indexes in one statement, with the records that their entries name: executions with their flows,
 * flows, edges of a graph, and payloads on request. So a walk over a graph costs one round trip per level. Neighbours
 * in a graph are loaded without their flow, which the caller has loaded with another member.
 */
import { INBOUND_PREFIX, OUTBOUND_PREFIX, edgeId, payloadKey } from '../../../kernel/index.ts'
import type { IndexEntry, Range } from '../../../kernel/index.ts'
import { bigintArray, flagArray, integerArray, nameArray, textArray } from '../wire/arrays.ts'
import type { ArrayValue } from '../wire/arrays.ts'
import { bytesOf } from '../wire/round-trip.ts'
import type { Statement, StatementReply } from '../wire/round-trip.ts'
import type { WorkingSet } from '../../working-set/load/working-set.ts'

/** A payload up to this size is loaded with its execution; a larger one only when it is read. */
export const SMALL_PAYLOAD_BYTES = 16_384

/** Below and above every score, which is a safe integer. */
const SCORE_MIN = -(2 ** 62)
const SCORE_MAX = 2 ** 62

/** Above every id, in the order of bytes. */
const LAST_ID = '\u{10ffff}'

/** The first character of the id of a flow, and never of an execution. */
const FLOW_ID_START = 'f'

/** A statement and the function that handles its reply. */
export interface LoadStep {
  readonly statement: Statement
  readonly take: (reply: StatementReply) => void
}

export type Direction = 'forward' | 'backward'

export interface WantedRange {
  readonly number: number
  readonly range: Range
  readonly hasPayloads: boolean
  readonly into: WorkingSet
  readonly keep: (entries: IndexEntry[]) => void
}

export function rangeStep(statement: Omit<Statement, 'values'>, wanted: readonly WantedRange[]): LoadStep | undefined {
  if (wanted.length === 0) return undefined
  const edges = wanted.map(({ range }) => edgesOf(range.index))
  const values = [
    ...rangeValues(wanted),
    flagArray(wanted.map(({ hasPayloads }) => hasPayloads)),
    textArray(edges.map((edge) => edge?.before)),
    textArray(edges.map((edge) => edge?.after)),
  ]
  return {
    statement: { ...statement, values },
    take: ({ rows }) => {
      const entries = wanted.map((): IndexEntry[] => [])
      for (const row of rows as RangeRow[]) {
        const found = wanted[row[0] - 1]
        if (found === undefined) continue
        entries[row[0] - 1]?.push({ index: found.range.index, score: row[1], id: row[2] })
        keepRow(found, row)
      }
      for (const [i, { keep }] of wanted.entries()) keep(entries[i] ?? [])
    },
  }
}

type RangeRow = [
  place: number,
  score: number,
  id: string,
  execution: string | null,
  flowId: string | null,
  flow: string | null,
  edge: string | null,
  isPayloadKnown: boolean,
  payload: Buffer | null,
]

/** Keeps the records that were loaded with an entry. */
function keepRow({ range, into }: WantedRange, row: RangeRow): void {
  const [, , id, execution, flowId, flow, edge, isPayloadKnown, payload] = row
  into.keepText('execution', id, execution ?? undefined)
  if (flowId !== null) into.keepText('flow', flowId, flow ?? undefined)
  const edges = edgesOf(range.index)
  if (edges !== undefined) into.keepText('edge', edges.before + id + edges.after, edge ?? undefined)
  if (isPayloadKnown) into.keepBlob(payloadKey(id), payload === null ? undefined : bytesOf(payload))
}

/**
 * Returns the text before and after an entry's id in the id of its edge; undefined if the index is not one of edges.
 */
export function edgesOf(index: string): { readonly before: string; readonly after: string } | undefined {
  if (index.startsWith(OUTBOUND_PREFIX)) return { before: edgeId(index.slice(OUTBOUND_PREFIX.length), ''), after: '' }
  if (index.startsWith(INBOUND_PREFIX)) return { before: '', after: edgeId('', index.slice(INBOUND_PREFIX.length)) }
  return undefined
}

export function rangeText(schema: string, direction: Direction): string {
  const order = direction === 'forward' ? 'e.score, e.id' : 'e.score desc, e.id desc'
  return `select k.place, e.score, e.id, r.record, w.flow_id, f.record, d.record,
      k.has_payloads and (b.bytes is null or octet_length(b.bytes) <= ${SMALL_PAYLOAD_BYTES}),
      case when octet_length(b.bytes) <= ${SMALL_PAYLOAD_BYTES} then b.bytes end
    from unnest($1::integer[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::integer[], $7::boolean[],
      $8::text[], $9::text[]) with ordinality
      as k (partition, name, from_score, from_id, to_score, most, has_payloads, edge_before, edge_after, place)
    cross join lateral (
      select e.score, e.id from ${schema}.entry e where ${conditionOf(direction)} order by ${order} limit k.most
    ) e
    left join lateral (
      select r.record, r.flow_id from ${schema}.execution r where r.id = e.id and r.partition = k.partition limit 1
    ) r on true
    cross join lateral (
      select case
        when left(e.id, 1) = '${FLOW_ID_START}' then e.id
        when k.edge_before is null then r.flow_id
      end as flow_id
    ) w
    left join lateral (
      select f.record from ${schema}.flow f where f.id = w.flow_id and f.partition = k.partition limit 1
    ) f on true
    left join lateral (
      select d.record from ${schema}.edge d
      where d.id = k.edge_before || e.id || k.edge_after and d.partition = k.partition limit 1
    ) d on true
    left join lateral (
      select b.bytes from ${schema}.blob b
      where k.has_payloads and b.key = '${PAYLOAD_PREFIX}' || e.id and b.partition = k.partition limit 1
    ) b on true
    order by k.place, ${order}`
}

/** The text before the id in the key of a payload. */
const PAYLOAD_PREFIX = payloadKey('')

export function countText(schema: string, direction: Direction): string {
  return `select (
      select count(*) from (
        select 1 from ${schema}.entry e where ${conditionOf(direction)} limit k.most
      ) counted
    )
    from unnest($1::integer[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::integer[])
      with ordinality as k (partition, name, from_score, from_id, to_score, most, place)
    order by k.place`
}

export function conditionOf(direction: Direction): string {
  const [past, within] = direction === 'forward' ? ['>', '<='] : ['<', '>=']
  return `e.partition = k.partition and e.name = k.name
    and (e.score, e.id) ${past} (k.from_score, k.from_id) and e.score ${within} k.to_score`
}

export function directionOf({ reverse }: Range): Direction {
  return reverse === true ? 'backward' : 'forward'
}

/**
 * Returns the columns of `k` that describe a range. A range without a start gets one before (or, in reverse, after)
 * every entry.
 */
export function rangeValues(wanted: readonly { readonly number: number; readonly range: Range }[]): ArrayValue[] {
  const isBackward = wanted[0]?.range.reverse === true
  const [firstScore, lastScore, firstId] = isBackward ? [SCORE_MAX, SCORE_MIN, LAST_ID] : [SCORE_MIN, SCORE_MAX, '']
  return [
    numbersOf(wanted),
    nameArray(wanted.map(({ range }) => range.index)),
    bigintArray(wanted.map(({ range }) => range.from?.score ?? firstScore)),
    textArray(wanted.map(({ range }) => range.from?.id ?? firstId)),
    bigintArray(wanted.map(({ range }) => range.to ?? lastScore)),
    integerArray(wanted.map(({ range }) => range.limit)),
  ]
}

export function numbersOf(wanted: readonly { readonly number: number }[]): ArrayValue {
  return integerArray(wanted.map(({ number }) => number))
}
