/** Turns the reads and writes of a batch into the content of a commit. */
import { DUE_INDEX } from '../../../kernel/index.ts'
import type { Instant } from '../../../kernel/index.ts'
import type { ClearCondition, Commit, Condition, OfOperation, RecordPut } from './backend.ts'
import type { BatchGroup, BatchOutcome } from '../overlay/batch-groups.ts'
import { writesRecord } from '../overlay/held-record.ts'
import type { HeldEvent, HeldRecord, LateBlob } from '../overlay/held-record.ts'
import { grownIn, holdersIn } from '../overlay/wake-of.ts'
import type { WorkingSet } from '../load/working-set.ts'

/** Whether a group wrote nothing and has no answer. */
export function isIdle({ hasAnswer, hasWrites }: BatchGroup): boolean {
  return !hasAnswer && !hasWrites
}

/**
 * Whether a commit has to confirm the reads of a group. A group without writes needs no confirmation if all its reads came
 * from one load, or if they were loaded and its answers need not be a snapshot.
 */
export function needsCommit(group: BatchGroup, set: WorkingSet, isLoose: boolean): boolean {
  if (group.hasWrites || group.hasLate || group.assumedClear.length > 0) return true
  return isLoose ? group.touchesRecalled : group.touchesAny && !isOfOneLoad(group, set)
}

function isOfOneLoad({ touchesRecalled }: BatchGroup, set: WorkingSet): boolean {
  return set.loadCount <= 1 && !touchesRecalled
}

/** Faults are reported, and unguarded ranges acted on, only under the lock. */
export function needsLock({ hasFault, hasWrites, readsUnguarded }: BatchGroup): boolean {
  return hasFault || (hasWrites && readsUnguarded)
}

/** Whether the reads may not be one snapshot in a way that no condition detects. Reads of one load always are. */
export function isTorn(group: BatchGroup, set: WorkingSet): boolean {
  if (!group.hasWrites && isOfOneLoad(group, set)) return false
  return group.isTorn || (group.readsUnguarded && set.loadCount > 1)
}

/** Conditions and writes of a commit, without its lock, clock and version. */
export interface CommitContent extends Pick<
  Commit,
  'groupCount' | 'groupOf' | 'conditions' | 'clear' | 'records' | 'entries' | 'blobs' | 'holdersOf' | 'grown'
> {
  /** Every record that was read or written. */
  readonly touched: readonly HeldRecord[]
  /** For each operation or part, the number of its call. */
  readonly callOf: readonly number[]
  readonly events: readonly HeldEvent[]
  readonly sends: readonly LateBlob[]
}

export type AppliedContent = Pick<CommitContent, 'touched' | 'conditions' | 'records' | 'entries' | 'events'>

/** Returns the content of a commit of these groups. */
export function contentOf(outcome: BatchOutcome, chosen: readonly BatchGroup[], now: Instant): CommitContent {
  const groupOf: (number | undefined)[] = outcome.groupOf.map(() => undefined)
  for (let group = 0; group < chosen.length; group++) {
    for (const operation of chosen[group]?.operations ?? []) groupOf[operation] = group
  }
  const isChosen = ({ operation }: OfOperation) => groupOf[operation] !== undefined
  const only = <T extends OfOperation>(items: readonly T[]) =>
    chosen.length === outcome.groups.length ? items : items.filter(isChosen)
  const touched = only(outcome.touched)
  const events = only(outcome.events)
  const records: RecordPut[] = []
  const conditions: Condition[] = []
  for (const held of touched) {
    const put = putOf(held)
    if (put !== undefined) records.push(put)
    conditions.push(conditionOf(held, put))
  }
  return {
    groupCount: chosen.length,
    groupOf,
    callOf: outcome.callOf,
    touched,
    conditions,
    clear: clearConditionsOf(chosen, now),
    records,
    entries: only(outcome.entries),
    blobs: only(outcome.blobs),
    events,
    sends: only(outcome.late),
    holdersOf: holdersIn(events),
    grown: grownIn(records) ?? [],
  }
}

/** Returns the applied content if some groups failed. */
export function withoutGroups(
  { groupOf, touched, conditions, records, entries, events }: CommitContent,
  failed: readonly number[],
): AppliedContent {
  const isApplied = ({ operation }: OfOperation) => !failed.includes(groupOf[operation] as number)
  return {
    touched: touched.filter(isApplied),
    conditions: conditions.filter(isApplied),
    records: records.filter(isApplied),
    entries: entries.filter(isApplied),
    events: events.filter(isApplied),
  }
}

/** The calls with an operation or a part in these groups. */
export function callsIn({ groupOf, callOf }: CommitContent, groups: readonly number[]): Set<number> {
  const calls = new Set<number>()
  groupOf.forEach((group, i) => {
    if (group !== undefined && groups.includes(group)) calls.add(callOf[i] as number)
  })
  return calls
}

function clearConditionsOf(chosen: readonly BatchGroup[], now: Instant): ClearCondition[] {
  const conditions: ClearCondition[] = []
  for (const { operations, assumedClear } of chosen) {
    const operation = operations[0] as number
    for (const index of assumedClear) {
      conditions.push({ index, upTo: index === DUE_INDEX ? now : undefined, operation })
    }
  }
  return conditions
}

/** Undefined if the batch did not change the record. */
function putOf(held: HeldRecord): RecordPut | undefined {
  if (!writesRecord(held)) return undefined
  const { type, id, current, entries, operation } = held
  return { type, id, record: current, entries, operation, length: 0 }
}

/** Throws if the version is unknown: the write could overwrite that of another process. */
function conditionOf({ type, id, found, operation }: HeldRecord, put: RecordPut | undefined): Condition {
  if (found === undefined) throw new Error(`The batch touched ${type} ${id} without knowing its version.`)
  return { type, id, version: found.version, length: found.length ?? 0, operation, put }
}
