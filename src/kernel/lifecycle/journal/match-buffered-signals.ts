/**
 * Matches signals that arrived before a wait against its condition, in the order of arrival, until the condition is
 * met.
 */
import { inboxIndex, signalsIndex } from '../../model/indexes.ts'
import type { ConditionNode, Journal, Signal, TimeoutBehaviour, Wait, Waitpoint } from '../../model/journal-schema.ts'
import { BUFFERED_SIGNAL_MAX, CONDITION_NEED_MAX } from '../../limits.ts'
import { mergeOrdered } from '../../model/order.ts'
import type { Tx } from '../../tx.ts'
import { beginCounting, countSignal } from '../../rules/condition.ts'
import type { WaitPlaces } from './wait-targets.ts'

export interface WaitInput {
  readonly nodes: readonly ConditionNode[]
  readonly reason: string
  readonly onTimeout: TimeoutBehaviour
  readonly resumeDelayMs?: number | undefined
  readonly remindEveryMs?: number | undefined
}

/** A new wait, and the buffered signals that counted for it. */
export interface Heard {
  readonly wait: Wait
  readonly taken: Signal[]
  readonly waitpoints: readonly Waitpoint[]
}

/**
 * Matches buffered signals against a new wait. Writes nothing. `earlier` are signals that had counted for the same wait
 * before the end of its execution closed it. Signals that do not count stay buffered for another wait.
 */
export function hearBuffered(tx: Tx, input: WaitInput, places: WaitPlaces, earlier: readonly Signal[]): Heard {
  const nodes = beginCounting(input.nodes)
  const wait: Wait = {
    reason: input.reason,
    until: undefined,
    onTimeout: input.onTimeout,
    nodes,
    targets: places.targets,
    resumeDelayMs: input.resumeDelayMs,
    remindEveryMs: input.remindEveryMs,
    reminderCount: 0,
    satisfiers: [],
    closer: undefined,
    isEscalated: false,
  }
  const inboxes: KeptSignal[][] = [keptOf(earlier)]
  for (const waitpoint of places.waitpoints) {
    if (places.fresh.includes(waitpoint.target)) continue
    // Signals at a closed waitpoint are not in its count any more.
    if (waitpoint.bufferedCount > 0 || waitpoint.closedAt !== undefined) inboxes.push(readInbox(tx, waitpoint))
  }
  const taken: Signal[] = []
  for (const { signal } of mergeOrdered(inboxes, BUFFERED_SIGNAL_MAX + CONDITION_NEED_MAX)) {
    // A newly opened waitpoint has received no signals.
    if (places.fresh.includes(signal.target)) continue
    const effect = countSignal(nodes, signal)
    if (effect !== 'counted' && effect !== 'resumed') continue
    if (signal.isWaiting) taken.push(signal)
    wait.satisfiers.push(signal.sequence)
    if (effect !== 'resumed') continue
    wait.closer = signal.sequence
    break
  }
  return { wait, taken, waitpoints: places.waitpoints }
}

/** Removes the matched signals from the buffer. Call before waitpoints are closed or opened. */
export function takeHeard(tx: Tx, journal: Journal, heard: Heard): void {
  for (const signal of heard.taken) {
    signal.isWaiting = false
    tx.put(signal)
  }
  for (const waitpoint of heard.waitpoints) {
    let takenCount = 0
    for (const { target } of heard.taken) if (target === waitpoint.target) takenCount = takenCount + 1
    if (takenCount === 0 || waitpoint.closedAt !== undefined) continue
    waitpoint.bufferedCount = waitpoint.bufferedCount - takenCount
    journal.bufferedCount = journal.bufferedCount - takenCount
    tx.put(waitpoint)
  }
}

/** A signal in the order of arrival. */
interface KeptSignal {
  readonly score: number
  readonly id: string
  readonly signal: Signal
}

function readInbox(tx: Tx, waitpoint: Waitpoint): KeptSignal[] {
  const from = { score: waitpoint.openedAfter + 1 }
  return keptOf(tx.scan({ index: inboxIndex(waitpoint.id), from, limit: BUFFERED_SIGNAL_MAX }, 'signal'))
}

function keptOf(signals: readonly Signal[]): KeptSignal[] {
  const kept: KeptSignal[] = []
  for (const signal of signals) kept.push({ score: signal.sequence, id: signal.id, signal })
  return kept
}

/**
 * Returns the signals that had counted for a wait. They are few and may lie far apart, so each is looked up by its
 * number.
 */
export function satisfiersOf(tx: Tx, scope: string, wait: Wait | undefined): Signal[] {
  const ids: string[] = []
  for (const sequence of wait?.satisfiers ?? []) {
    const entry = tx.range({ index: signalsIndex(scope), from: { score: sequence }, to: sequence, limit: 1 })[0]
    if (entry !== undefined) ids.push(entry.id)
  }
  return tx.getMany('signal', ids)
}
