/** Each record stands in exactly the entries that it derives, and each execution in the one queue that its state names. */
import { CREATED_INDEX, DUE_INDEX, PURGE_INDEX, entriesOf } from '../../src/kernel/index.ts'
import type { Execution, IndexEntry, Journal, Membership } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { executionsOf } from './execution-invariants.ts'

const SEPARATOR = '\u001f'

export function indexProblems(dump: PartitionDump): string[] {
  return [...derivationProblems(dump), ...placeProblems(dump), ...queueProblems(dump)]
}

export function derivationProblems(dump: PartitionDump): string[] {
  const stored = dump.entries.map(textOf)
  const derived = dump.records.flatMap((record) => entriesOf(record)).map(textOf)
  const storedOnce = new Set(stored)
  const derivedOnce = new Set(derived)
  const problems: string[] = []
  if (storedOnce.size !== stored.length) problems.push('an index holds an entry twice')
  if (derivedOnce.size !== derived.length) problems.push('a record derives an entry twice')
  for (const entry of storedOnce) if (!derivedOnce.has(entry)) problems.push(`no record derives the entry ${entry}`)
  for (const entry of derivedOnce) if (!storedOnce.has(entry)) problems.push(`the entry ${entry} is missing`)
  return problems
}

function textOf(entry: IndexEntry): string {
  return `${entry.index.replaceAll(SEPARATOR, '/')} ${entry.score} ${entry.id}`
}

function placeProblems(dump: PartitionDump): string[] {
  const entriesById = Map.groupBy(dump.entries, (entry) => entry.id)
  return executionsOf(dump).flatMap((execution) => {
    const entries = entriesById.get(execution.id) ?? []
    const queueNames = entries.map((entry) => entry.index).filter(namesQueue)
    const expected = {
      // If only the id is kept, no list shows it.
      queue: execution.removed === undefined ? [expectedQueue(execution)] : [],
      created: execution.removed === undefined ? execution.createdAt : undefined,
      due: expectedDue(execution),
      purge: expectedPurge(execution),
    }
    const found = {
      queue: queueNames,
      created: scoreIn(entries, CREATED_INDEX),
      due: scoreIn(entries, DUE_INDEX),
      purge: scoreIn(entries, PURGE_INDEX),
    }
    if (JSON.stringify(found) === JSON.stringify(expected)) return []
    return [`${execution.id} should stand at ${JSON.stringify(expected)}, not at ${JSON.stringify(found)}`]
  })
}

function namesQueue(index: string): boolean {
  return index.startsWith(`ready${SEPARATOR}`) || index.startsWith(`lane${SEPARATOR}`)
}

function scoreIn(entries: readonly IndexEntry[], index: string): number | undefined {
  return entries.find((entry) => entry.index === index)?.score
}

function expectedQueue(execution: Execution): string {
  const { state, lane } = execution
  switch (state.phase) {
    case 'eligible':
      return ['ready', lane, execution.class].join(SEPARATOR)
    case 'blocked':
      return ['lane', lane, blockedNames[state.by]].join(SEPARATOR)
    case 'ended':
      return ['lane', lane, state.outcome].join(SEPARATOR)
    case 'delayed':
    case 'active':
    case 'suspended':
      return ['lane', lane, state.phase].join(SEPARATOR)
  }
}

const blockedNames = {
  // Stored names keep the word of the first version.
  dependencies: 'waiting_children',
  budget: 'rate_limited',
  limit: 'rate_limited',
  operator: 'waiting',
  hold: 'waiting',
  order: 'waiting_children',
}

/** The earliest of all its timers; for a member also what it owes to others, for which an end is no end. */
function expectedDue(execution: Execution): number | undefined {
  const { state, deadlineAt, member, journal, unwinding } = execution
  const owed = member === undefined ? [] : owedBy(execution, member)
  if (journal?.childCancels !== undefined) owed.push(journal.childCancels.at)
  if (state.phase === 'ended') return owed.length === 0 ? undefined : Math.min(...owed)
  const timers = [...owed, unwinding === undefined ? deadlineAt : undefined]
  if (unwinding !== undefined && state.phase !== 'active') timers.push(unwinding.until)
  if (unwinding !== undefined && state.phase === 'active') timers.push(state.runningSince + unwinding.leftMs)
  if (state.phase === 'delayed') timers.push(state.until)
  if (state.phase === 'active') timers.push(state.lease.expiresAt, state.timeoutAt, state.cancel?.forceAt)
  if (state.phase === 'suspended') timers.push(state.until, state.remindAt)
  if (journal !== undefined) timers.push(...timersOf(execution, journal))
  const set = timers.filter((timer) => timer !== undefined)
  return set.length === 0 ? undefined : Math.min(...set)
}

/** Since when something waits to be removed, or when what was opened ahead of a wait closes. */
function timersOf({ lastReplay, createdAt }: Execution, journal: Journal): (number | undefined)[] {
  const isUntidy = journal.cuts.length > 0 || journal.firstLife < journal.life
  return isUntidy ? [lastReplay?.at ?? createdAt] : journal.open.map((open) => open.expiresAt)
}

/** Cancels of siblings come before edges; one that has ended undecided owes them since its end. */
function owedBy({ state, changedAt }: Execution, { group, owesEdges }: Membership): number[] {
  if (group?.owedFrom !== undefined) return [group.decidedAt ?? changedAt]
  return owesEdges && state.phase === 'ended' ? [state.at] : []
}

/** A member goes with its flow, a child is kept for its parent, and a parent stays until its children are cancelled. What holds a line back stays. */
function expectedPurge(execution: Execution): number | undefined {
  const { state, member, removed, dedupeMs, parent, journal, shaping, retentionMs, retentions } = execution
  const isForParent = parent !== undefined && parent.isDetached !== true && parent.isReleased !== true
  const isKept = isForParent || shaping?.holdsBack === true
  if (state.phase !== 'ended' || member !== undefined || isKept || journal?.childCancels !== undefined) return undefined
  const keptMs = retentions?.[state.outcome] ?? retentionMs
  return state.at + (removed === undefined ? keptMs : (dedupeMs ?? Number.NaN))
}

function queueProblems(dump: PartitionDump): string[] {
  const queues = new Set(dump.records.filter((record) => record.type === 'queue').map((record) => record.id))
  return executionsOf(dump)
    .filter(({ removed }) => removed === undefined)
    .filter((execution) => !queues.has([execution.lane, execution.class].join(SEPARATOR)))
    .map((execution) => `the queue of ${execution.id} is not registered`)
}
