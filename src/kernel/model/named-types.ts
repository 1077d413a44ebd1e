/**
 * Record types whose ids are names instead of ids of executions and flows. Each has an index of all its records, and an index
 * of its timers if time alone can change a record. A new type needs an entry here, and then has a due pass, a reconciler and
 * a loader on every store.
 */
import type { PartitionFamily } from './families.ts'
import {
  AUDIT_INDEX,
  CONSUMERS_INDEX,
  COPYING_LANES_INDEX,
  DUTIES_INDEX,
  LANES_INDEX,
  ROTATIONS_INDEX,
  SCHEDULES_INDEX,
  SHAPING_KEYS_INDEX,
  SHARES_INDEX,
  GATES_INDEX,
  GAUGES_INDEX,
  HOLDINGS_INDEX,
  LIMITS_INDEX,
  ACCOUNTS_INDEX,
  BUDGETS_INDEX,
  CHARGES_INDEX,
  PAST_PERIODS_INDEX,
  RESERVATIONS_INDEX,
  UNSWEPT_WORKERS_INDEX,
  WORKERS_INDEX,
  timersIndex,
} from './indexes.ts'
import type { RecordType } from './records.ts'

/** The record types whose ids are names. */
export type NamedType = Extract<
  RecordType,
  | 'worker'
  | 'share'
  | 'rotation'
  | 'lane'
  | 'limit_definition'
  | 'gauge'
  | 'holding'
  | 'gate'
  | 'duties'
  | 'schedule'
  | 'budget'
  | 'account'
  | 'reservation'
  | 'charge'
  | 'past_period'
  | 'consumer'
  | 'shaping_key'
  | 'audit_entry'
>

export interface NamedTypeEntry {
  readonly type: NamedType
  /** The families of partitions that hold such records. */
  readonly families: readonly PartitionFamily[]
  /** The index of all records of the type. */
  readonly all: string
  /** Whether a record may have a timer, in `timersIndex(type)`. */
  readonly isTimed: boolean
  /** Further indexes whose entries are ids of such records. */
  readonly further: readonly string[]
}

export const namedTypes: readonly NamedTypeEntry[] = [
  { type: 'worker', families: ['m'], all: WORKERS_INDEX, isTimed: true, further: [UNSWEPT_WORKERS_INDEX] },
  { type: 'share', families: ['fp'], all: SHARES_INDEX, isTimed: true, further: [] },
  { type: 'rotation', families: ['fp'], all: ROTATIONS_INDEX, isTimed: false, further: [] },
  { type: 'lane', families: ['fp', 'm'], all: LANES_INDEX, isTimed: false, further: [COPYING_LANES_INDEX] },
  { type: 'limit_definition', families: ['q'], all: LIMITS_INDEX, isTimed: false, further: [] },
  { type: 'gauge', families: ['q'], all: GAUGES_INDEX, isTimed: true, further: [] },
  { type: 'holding', families: ['q'], all: HOLDINGS_INDEX, isTimed: true, further: [] },
  { type: 'gate', families: ['fp'], all: GATES_INDEX, isTimed: true, further: [] },
  { type: 'schedule', families: ['fp'], all: SCHEDULES_INDEX, isTimed: true, further: [] },
  { type: 'budget', families: ['q'], all: BUDGETS_INDEX, isTimed: true, further: [] },
  { type: 'account', families: ['q'], all: ACCOUNTS_INDEX, isTimed: false, further: [] },
  { type: 'reservation', families: ['q'], all: RESERVATIONS_INDEX, isTimed: true, further: [] },
  { type: 'charge', families: ['q'], all: CHARGES_INDEX, isTimed: true, further: [] },
  { type: 'past_period', families: ['q'], all: PAST_PERIODS_INDEX, isTimed: false, further: [] },
  { type: 'shaping_key', families: ['fp'], all: SHAPING_KEYS_INDEX, isTimed: true, further: [] },
  { type: 'duties', families: ['m'], all: DUTIES_INDEX, isTimed: false, further: [] },
  { type: 'consumer', families: ['m'], all: CONSUMERS_INDEX, isTimed: false, further: [] },
  { type: 'audit_entry', families: ['m'], all: AUDIT_INDEX, isTimed: true, further: [] },
]

export function namedTypesIn(family: PartitionFamily): NamedTypeEntry[] {
  return namedTypes.filter(({ families }) => families.includes(family))
}

/** All indexes whose entries are ids of records of the type. */
export function indexesOf({ type, all, isTimed, further }: NamedTypeEntry): string[] {
  return isTimed ? [all, timersIndex(type), ...further] : [all, ...further]
}
