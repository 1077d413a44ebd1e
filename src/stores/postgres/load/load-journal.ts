/**
 * Loads ranges of the indexes of steps, signals, waitpoints and of records whose ids are names in one statement, with the
 * records that their entries name and, on request, their values. Separate from other ranges, so that a claim does not pay for these joins.
 */
import {
  OPEN_WAITPOINTS_INDEX,
  STEP_PAGE_BYTES,
  bufferedSignalsIndex,
  isNameIndex,
  namedTypes,
  recordsNamedBy,
  signalPayloadKey,
  signalsIndex,
  stepValueKey,
  stepsIndex,
  waitpointsIndex,
} from '../../../kernel/index.ts'
import type { IndexEntry, RecordType } from '../../../kernel/index.ts'
import { textArray } from '../wire/arrays.ts'
import { bytesOf } from '../wire/round-trip.ts'
import type { Statement } from '../wire/round-trip.ts'
import { conditionOf, rangeValues } from './load-range.ts'
import type { LoadStep, WantedRange } from './load-range.ts'

/** The record type that the entries of an index name. */
interface JournalIndex {
  readonly type: RecordType
  /** The text before a record's id in the key of its value. */
  readonly bytesBefore: string | undefined
}

const STEPS: JournalIndex = { type: 'step', bytesBefore: stepValueKey('') }
const SIGNALS: JournalIndex = { type: 'signal', bytesBefore: signalPayloadKey('') }
const WAITPOINTS: JournalIndex = { type: 'waitpoint', bytesBefore: undefined }

const byPrefix: readonly (readonly [prefix: string, index: JournalIndex])[] = [
  [stepsIndex(''), STEPS],
  [signalsIndex(''), SIGNALS],
  [bufferedSignalsIndex(''), SIGNALS],
  [waitpointsIndex(''), WAITPOINTS],
]

/** Returns undefined for any other index. */
export function journalIndexOf(index: string): JournalIndex | undefined {
  if (index === OPEN_WAITPOINTS_INDEX) return WAITPOINTS
  if (isNameIndex(index)) return namedIndexOf(index)
  return byPrefix.find(([prefix]) => index.startsWith(prefix))?.[1]
}

const named = new Map<RecordType, JournalIndex>(namedTypes.map(({ type }) => [type, { type, bytesBefore: undefined }]))

function namedIndexOf(index: string): JournalIndex | undefined {
  const [record] = recordsNamedBy(index)
  return record === undefined ? undefined : named.get(record.type)
}

interface WantedJournal extends WantedRange {
  readonly named: JournalIndex
}

type JournalRow = [
  place: number,
  score: number,
  id: string,
  record: string | null,
  areBytesKnown: boolean,
  bytes: Buffer | null,
]

export function journalStep(
  statement: Omit<Statement, 'values'>,
  ranges: readonly WantedRange[],
): LoadStep | undefined {
  const wanted = ranges.flatMap((one): WantedJournal[] => {
    const named = journalIndexOf(one.range.index)
    return named === undefined ? [] : [{ ...one, named }]
  })
  if (wanted.length === 0) return undefined
  const values = [
    ...rangeValues(wanted),
    textArray(wanted.map(({ named }) => named.type)),
    textArray(wanted.map(({ named, hasPayloads }) => (hasPayloads ? named.bytesBefore : undefined))),
  ]
  return {
    statement: { ...statement, values },
    take: ({ rows }) => {
      const entries = wanted.map((): IndexEntry[] => [])
      for (const [place, score, id, record, areBytesKnown, bytes] of rows as JournalRow[]) {
        const found = wanted[place - 1]
        if (found === undefined) continue
        const { range, into, named } = found
        entries[place - 1]?.push({ index: range.index, score, id })
        into.keepText(named.type, id, record ?? undefined)
        if (areBytesKnown) into.keepBlob(`${named.bytesBefore ?? ''}${id}`, bytes === null ? undefined : bytesOf(bytes))
      }
      for (const [i, { keep }] of wanted.entries()) keep(entries[i] ?? [])
    },
  }
}

/** Values are loaded up to the size that one page returns. */
export function journalText(schema: string): string {
  const recordOf = ({ type }: JournalIndex): string =>
    `select r.record from ${schema}.${type} r where k.type = '${type}' and r.id = e.id and r.partition = k.partition`
  return `select place, score, id, record, bytes_before is not null and (bytes is null or total <= ${STEP_PAGE_BYTES}),
      case when total <= ${STEP_PAGE_BYTES} then bytes end
    from (
      select k.place, k.bytes_before, e.score, e.id, r.record, b.bytes,
        sum(octet_length(b.bytes)) over (partition by k.place order by e.score, e.id) as total
      from unnest($1::integer[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::integer[], $7::text[],
        $8::text[]) with ordinality
        as k (partition, name, from_score, from_id, to_score, most, type, bytes_before, place)
      cross join lateral (
        select e.score, e.id from ${schema}.entry e where ${conditionOf('forward')} order by e.score, e.id limit k.most
      ) e
      left join lateral (
        ${[STEPS, SIGNALS, WAITPOINTS, ...named.values()].map(recordOf).join(' union all ')} limit 1
      ) r on true
      left join lateral (
        select b.bytes from ${schema}.blob b
        where b.key = k.bytes_before || e.id and b.partition = k.partition limit 1
      ) b on true
    ) found
    order by place, score, id`
}
