/** Matches signals that arrived before a wait against its condition, in the order of arrival, until it is met. */
import { bufferedSignalsIndex, signalsIndex } from '../../model/indexes.ts'
import type { Amounts } from '../../model/budget-schema.ts'
import type { ConditionNode, Journal, Signal, TimeoutBehaviour, Wait, Waitpoint } from '../../model/journal-schema.ts'
import { LINK_SIGNAL_MAX, SIGNAL_MAX, TARGET_BUFFERED_MAX } from '../../limits.ts'
import { mergeOrdered } from '../../model/order.ts'
import type { Tx } from '../../tx.ts'
import { beginCounting, countSignal } from '../../rules/condition.ts'
import type { WaitTargets } from './wait-targets.ts'

export interface WaitInput {
  readonly nodes: readonly ConditionNode[]
  readonly reason: string
  readonly onTimeout: TimeoutBehaviour
  readonly resumeDelayMs?: number | undefined
  readonly remindEveryMs?: number | undefined
  readonly asks?: Amounts | undefined
}

/** A new wait, and the buffered signals that counted for it. */
export interface BufferedMatch {
  readonly wait: Wait
  readonly matched: Signal[]
  readonly waitpoints: readonly Waitpoint[]
}

/**
 * Matches buffered signals against a new wait. Writes nothing. `earlier` are signals that had counted for the same wait
 * before the end of its execution closed it. Signals that do not count stay buffered for another wait.
 */
export function matchBufferedSignals(
  tx: Tx,
  input: WaitInput,
  targets: WaitTargets,
  earlier: readonly Signal[],
): BufferedMatch {
  const nodes = beginCounting(input.nodes)
  const wait: Wait = {
    reason: input.reason,
    until: undefined,
    onTimeout: input.onTimeout,
    nodes,
    targets: targets.all,
    resumeDelayMs: input.resumeDelayMs,
    remindEveryMs: input.remindEveryMs,
    reminderCount: 0,
    satisfiers: [],
    closer: undefined,
    isEscalated: false,
    asks: input.asks,
  }
  const buffers: OrderedSignal[][] = [inOrder(earlier)]
  for (const waitpoint of targets.waitpoints) {
    if (targets.fresh.includes(waitpoint.target)) continue
    // Signals at a closed waitpoint are not in its count any more.
    if (waitpoint.bufferedCount > 0 || waitpoint.closedAt !== undefined) buffers.push(readBuffered(tx, waitpoint))
  }
  const matched: Signal[] = []
  for (const { signal } of mergeOrdered(buffers, SIGNAL_MAX + LINK_SIGNAL_MAX)) {
    // A newly opened waitpoint has received no signals.
    if (targets.fresh.includes(signal.target)) continue
    const effect = countSignal(nodes, signal)
    if (effect !== 'counted' && effect !== 'resumed') continue
    if (signal.isWaiting) matched.push(signal)
    wait.satisfiers.push(signal.sequence)
    if (effect !== 'resumed') continue
    wait.closer = signal.sequence
    break
  }
  return { wait, matched, waitpoints: targets.waitpoints }
}

/** Removes the matched signals from the buffer. Call before waitpoints are closed or opened. */
export function consumeMatched(tx: Tx, journal: Journal, match: BufferedMatch): void {
  for (const signal of match.matched) {
    signal.isWaiting = false
    tx.put(signal)
  }
  for (const waitpoint of match.waitpoints) {
    let matchedCount = 0
    let linkCount = 0
    for (const { target, source } of match.matched) {
      if (target !== waitpoint.target) continue
      matchedCount = matchedCount + 1
      if (source.type === 'token') linkCount = linkCount + 1
    }
    if (matchedCount === 0 || waitpoint.closedAt !== undefined) continue
    // Signals that an earlier version buffered are not in the count.
    waitpoint.linkBufferedCount = Math.max(0, (waitpoint.linkBufferedCount ?? 0) - linkCount)
    waitpoint.bufferedCount = waitpoint.bufferedCount - matchedCount
    journal.bufferedCount = journal.bufferedCount - matchedCount
    tx.put(waitpoint)
  }
}

/** A signal in the order of arrival. */
interface OrderedSignal {
  readonly score: number
  readonly id: string
  readonly signal: Signal
}

function readBuffered(tx: Tx, waitpoint: Waitpoint): OrderedSignal[] {
  const from = { score: waitpoint.openedAfter + 1 }
  return inOrder(tx.scan({ index: bufferedSignalsIndex(waitpoint.id), from, limit: TARGET_BUFFERED_MAX }, 'signal'))
}

function inOrder(signals: readonly Signal[]): OrderedSignal[] {
  const ordered: OrderedSignal[] = []
  for (const signal of signals) ordered.push({ score: signal.sequence, id: signal.id, signal })
  return ordered
}

/** Returns the signals that had counted for a wait. They are few and far apart, so each is looked up by number. */
export function satisfiersOf(tx: Tx, scope: string, wait: Wait | undefined): Signal[] {
  const ids: string[] = []
  for (const sequence of wait?.satisfiers ?? []) {
    const entry = tx.range({ index: signalsIndex(scope), from: { score: sequence }, to: sequence, limit: 1 })[0]
    if (entry !== undefined) ids.push(entry.id)
  }
  return tx.getMany('signal', ids)
}
