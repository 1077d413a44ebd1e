/** What came before a wait began: put to its condition in the order of arrival, until that is met. */
import { inboxIndex } from '../indexes.ts'
import type { ConditionNode, Journal, Signal, TimeoutBehaviour, Wait, Waitpoint } from '../journal-records.ts'
import { BUFFERED_SIGNAL_MAX } from '../limits.ts'
import { mergeOrdered } from '../order.ts'
import type { Tx } from '../tx.ts'
import { beginCounting, countSignal } from './condition.ts'
import type { WaitPlaces } from './wait-places.ts'

/** What a wait is made of. */
export interface WaitInput {
  readonly nodes: readonly ConditionNode[]
  readonly reason: string
  readonly onTimeout: TimeoutBehaviour
  readonly resumeDelayMs?: number | undefined
  readonly remindEveryMs?: number | undefined
}

/** A new wait, and the signals that counted for it already. */
export interface Heard {
  readonly wait: Wait
  readonly taken: Signal[]
  readonly waitpoints: readonly Waitpoint[]
}

/** Writes nothing. What counts for nothing stays where it is, for a wait that it may count for. */
export function hearBuffered(tx: Tx, input: WaitInput, places: WaitPlaces): Heard {
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
  const inboxes: KeptSignal[][] = []
  for (const waitpoint of places.waitpoints) {
    const isFresh = places.fresh.includes(waitpoint.target) && waitpoint.closedAt !== undefined
    const isClosed = !isFresh && waitpoint.closedAt !== undefined
    if (isFresh || (waitpoint.bufferedCount === 0 && !isClosed)) continue
    inboxes.push(readInbox(tx, waitpoint))
  }
  const taken: Signal[] = []
  for (const { signal } of mergeOrdered(inboxes, BUFFERED_SIGNAL_MAX)) {
    const effect = countSignal(nodes, signal)
    if (effect !== 'counted' && effect !== 'resumed') continue
    taken.push(signal)
    wait.satisfiers.push(signal.sequence)
    if (effect !== 'resumed') continue
    wait.closer = signal.sequence
    break
  }
  return { wait, taken, waitpoints: places.waitpoints }
}

/** Takes the signals that counted out of what is kept. Said before waitpoints are closed or opened. */
export function takeHeard(tx: Tx, journal: Journal, heard: Heard): void {
  for (const signal of heard.taken) {
    signal.isWaiting = false
    tx.put(signal)
  }
  for (const waitpoint of heard.waitpoints) {
    let takenCount = 0
    for (const { target } of heard.taken) if (target === waitpoint.target) takenCount = takenCount + 1
    // What is kept at a closed waitpoint is not counted any more.
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
  const kept: KeptSignal[] = []
  const from = { score: waitpoint.openedAfter + 1 }
  const range = { index: inboxIndex(waitpoint.id), from, limit: BUFFERED_SIGNAL_MAX }
  for (const signal of tx.scan(range, 'signal')) kept.push({ score: signal.sequence, id: signal.id, signal })
  return kept
}
