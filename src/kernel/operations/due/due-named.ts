/** The due pass over records whose ids are names, such as worker registrations. */
import type { DueCaseName, NamedDueCase } from './due-case.ts'
import { auditExpiry } from './audit-expiry.ts'
import { shareExpiry } from './share-expiry.ts'
import { budgetReset } from './budget-reset.ts'
import { chargeExpiry } from './charge-expiry.ts'
import { gaugeIdle } from './gauge-idle.ts'
import { permitExpiry } from './permit-expiry.ts'
import { reservationExpiry } from './reservation-expiry.ts'
import { scheduleFiring } from './schedule-firing.ts'
import { shapingExpiry } from './shaping-expiry.ts'
import { unblock } from './unblock.ts'
import { workerExpiry } from './worker-expiry.ts'
import type { PartitionFamily } from '../../model/families.ts'
import { timersIndex } from '../../model/indexes.ts'
import { namedTypesIn } from '../../model/named-types.ts'
import type { NamedType } from '../../model/named-types.ts'
import type { Instant } from '../../model/records.ts'
import { DUE_ITEM_WORK, SCHEDULE_DUE_WORK } from '../../limits.ts'
import type { Tx } from '../../tx.ts'

/** The case of each type with a timer. */
const namedDueCases: { readonly [T in NamedType]: NamedDueCase<T> | undefined } = {
  worker: workerExpiry,
  share: shareExpiry,
  rotation: undefined,
  lane: undefined,
  limit_definition: undefined,
  gauge: gaugeIdle,
  holding: permitExpiry,
  gate: unblock,
  duties: undefined,
  schedule: scheduleFiring,
  consumer: undefined,
  budget: budgetReset,
  account: undefined,
  reservation: reservationExpiry,
  charge: chargeExpiry,
  past_period: undefined,
  shaping_key: shapingExpiry,
  audit_entry: auditExpiry,
}

/** The types whose timers a pass over a partition handles. */
export function timedTypesIn(family: PartitionFamily): NamedType[] {
  return namedTypesIn(family)
    .filter(({ isTimed }) => isTimed)
    .map(({ type }) => type)
}

export interface NamedDue {
  readonly type: NamedType
  readonly id: string
}

/** The records that are due, earliest first within a type, without those that failed repeatedly. */
export function dueNamed(tx: Tx, types: readonly NamedType[], limit: number, skip: readonly string[]): NamedDue[] {
  return types.flatMap((type) =>
    tx
      .range({ index: timersIndex(type), to: tx.now, limit: limit + skip.length })
      .filter(({ id }) => !skip.includes(id))
      .map(({ id }) => ({ type, id })),
  )
}

/** How many records one due record puts or removes. */
export function workOf(type: NamedType): number {
  return type === 'schedule' ? SCHEDULE_DUE_WORK : DUE_ITEM_WORK
}

/** What was done to a record, and when it was due. */
interface NamedDueReport {
  readonly case: DueCaseName
  readonly dueAt: Instant
  /** Whether the record is due again at once. */
  readonly isStillDue: boolean
}

/** Handles one due record. Returns undefined if the record is gone or not due any more. */
export function runDueNamed<T extends NamedType>(tx: Tx, type: T, id: string): NamedDueReport | undefined {
  const dueCase: NamedDueCase<T> | undefined = namedDueCases[type]
  const [record] = tx.getMany(type, [id])
  if (dueCase === undefined || record === undefined) return undefined
  const dueAt = dueCase.dueAt(record)
  if (dueAt === undefined || dueAt > tx.now) return undefined
  dueCase.run(tx, record)
  const outcome = dueCase.outcomeOf?.(record, tx.now)
  return { case: outcome?.name ?? dueCase.name, dueAt, isStillDue: outcome?.isStillDue === true }
}
