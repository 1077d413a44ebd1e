/**
 * Index membership, derived: these functions say which entries a record has, and a store applies the difference between
 * before and after a write. Nothing else writes an index, so records and indexes agree by construction.
 */
import type { AnyRecord, Attempt, Execution, Queue } from './records.ts'
import { claimScore, dueAt, publicState } from './state.ts'
import type { PublicState } from './state.ts'
import { SEPARATOR, joinName } from './text.ts'
import type { IndexEntry } from './tx.ts'

/** All executions of the partition, by creation. */
export const CREATED_INDEX = 'created'
/** Everything that time alone will change, by its earliest timer. */
export const DUE_INDEX = 'due'
/** Ended executions, by the end of their retention. Apart from `due`, so that a backlog of purges delays no lease. */
export const PURGE_INDEX = 'purge'
/** Every queue that was ever submitted to and still has a record. */
export const QUEUES_INDEX = 'queues'

const READY_PREFIX = 'ready' + SEPARATOR

/** Eligible executions of one lane and class, in the order in which they are claimed. */
export function readyIndex(lane: string, className: string): string {
  return READY_PREFIX + joinName(lane, className)
}

/** The lane and class of a ready index, or undefined for any other name. A store's wake-ups carry it. */
export function isReadyIndex(index: string): boolean {
  return index.substring(0, READY_PREFIX.length) === READY_PREFIX
}

/** Executions of one lane in one public state, by creation; those that a worker may take stand in a ready index instead. */
export function laneIndex(lane: string, state: PublicState): string {
  return 'lane' + SEPARATOR + joinName(lane, state)
}

export function tagIndex(name: string, value: string): string {
  return 'tag' + SEPARATOR + joinName(name, value)
}

/** The recorded attempts of one execution, by number. */
export function attemptsIndex(executionId: string): string {
  return joinName('attempts', executionId)
}

export function queueId(lane: string, className: string): string {
  return joinName(lane, className)
}

/** Where a worker or a listing finds it. */
function queueEntry(execution: Execution): IndexEntry {
  const state = execution.state
  return state.phase === 'eligible'
    ? { index: readyIndex(execution.lane, execution.class), score: claimScore(execution), id: execution.id }
    : { index: laneIndex(execution.lane, publicState(state)), score: execution.createdAt, id: execution.id }
}

/** Where time finds it: to change it as long as it lives, to remove it afterwards. */
function timedEntry(execution: Execution): IndexEntry | undefined {
  const state = execution.state
  if (state.phase === 'ended') {
    return { index: PURGE_INDEX, score: state.at + execution.retentionMs, id: execution.id }
  }
  const due = dueAt(execution)
  return due === undefined ? undefined : { index: DUE_INDEX, score: due, id: execution.id }
}

function executionEntries(execution: Execution): IndexEntry[] {
  const id = execution.id
  const created = { index: CREATED_INDEX, score: execution.createdAt, id }
  const queued = queueEntry(execution)
  const timed = timedEntry(execution)
  // Written in one go: inside Valkey a list that grows costs as much as everything else here.
  const entries: IndexEntry[] = timed === undefined ? [created, queued] : [created, queued, timed]
  for (const tag of execution.tags) {
    if (tag.indexed) entries.push({ index: tagIndex(tag.name, tag.value), score: execution.createdAt, id })
  }
  return entries
}

function attemptEntries(attempt: Attempt): IndexEntry[] {
  return [{ index: attemptsIndex(attempt.executionId), score: attempt.number, id: attempt.id }]
}

function queueEntries(queue: Queue): IndexEntry[] {
  return [{ index: QUEUES_INDEX, score: 0, id: queue.id }]
}

export function entriesOf(record: AnyRecord): IndexEntry[] {
  switch (record.type) {
    case 'execution':
      return executionEntries(record)
    case 'attempt':
      return attemptEntries(record)
    case 'queue':
      return queueEntries(record)
  }
}
