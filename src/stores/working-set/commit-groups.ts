/** Turns what a group of operations has read and written into what a store commits. */
import { DUE_INDEX } from '../../kernel/index.ts'
import type { Instant } from '../../kernel/index.ts'
import type { CommitGroup, Condition } from './backend.ts'
import type { BatchGroup } from './batch-groups.ts'
import type { EventWrite } from './stored-data.ts'
import type { WorkingSet } from './working-set.ts'

/**
 * Whether the answers of a group count only once a commit has confirmed what it read. A group that writes nothing needs no
 * confirmation if all came from one load, or if it was loaded and its answers are documented as not of one moment.
 */
export function needsCommit(group: BatchGroup, set: WorkingSet, isLoose: boolean): boolean {
  if (group.hasWrites || group.late.length > 0 || group.assumedClear.length > 0) return true
  if (isLoose) return group.touched.some(({ type, id }) => set.momentOf(type, id) === 0)
  return group.touched.length > 0 && !isOfOneLoad(group, set)
}

function isOfOneLoad({ touched }: BatchGroup, set: WorkingSet): boolean {
  return set.loadCount <= 1 && touched.every(({ type, id }) => set.momentOf(type, id) > 0)
}

/** Impossible states are reported, and unguarded ranges decided by, only while no other batch can commit. */
export function needsLock({ hasFault, hasWrites, readsUnguarded }: BatchGroup): boolean {
  return hasFault || (hasWrites && readsUnguarded)
}

/** Whether what was read may not have been true at one moment although no record tells. All of one load always was. */
export function isTorn(group: BatchGroup, set: WorkingSet): boolean {
  if (!group.hasWrites && isOfOneLoad(group, set)) return false
  return group.isTorn || (group.readsUnguarded && set.loadCount > 1)
}

/** Executions whose holders have a message waiting. */
export function holdersIn(events: readonly EventWrite[]): string[] {
  return events.flatMap(({ event, isForHolder }) => (isForHolder ? [event.executionId] : []))
}

export function commitGroupOf(group: BatchGroup, set: WorkingSet, now: Instant): CommitGroup {
  return {
    conditions: group.touched.map(({ type, id }) => conditionOf(set, type, id)),
    clear: group.assumedClear.map((index) => ({ index, upTo: index === DUE_INDEX ? now : undefined })),
    records: group.records.map(({ type, id, record }) => ({ type, id, record })),
    entries: group.entries,
    blobs: group.blobs,
    events: group.events.map(({ event }) => event),
    eventPlaces: group.eventPlaces,
    sends: group.late.map(({ key }) => key),
  }
}

/** A write whose previous version is unknown would overwrite what another process wrote. */
function conditionOf(set: WorkingSet, type: Condition['type'], id: string): Condition {
  const known = set.known(type, id)
  if (known === undefined) throw new Error(`The batch touched ${type} ${id} without knowing its version.`)
  return { type, id, version: known.version, length: known.length }
}
