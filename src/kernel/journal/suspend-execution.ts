/**
 * A holder waits: for signals, for a time, or for an operator. It lets go of its worker, unless what came early has met the
 * condition already. Said again, by whoever holds the execution then, it answers as the wait ended.
 */
import { cancelIfAsked } from '../fail-execution.ts'
import { inboxIndex } from '../indexes.ts'
import type { ConditionNode, Journal, Signal, Step, TimeoutBehaviour, Wait, Waitpoint } from '../journal-records.ts'
import { leaseEnded, refuseUnlessHeld } from '../leases.ts'
import type { LeaseRefusal } from '../leases.ts'
import { BUFFERED_SIGNAL_MAX, OPEN_WAITPOINT_MAX, SIGNAL_PAGE_MAX } from '../limits.ts'
import { mergeOrdered } from '../order.ts'
import { suspend } from '../phases.ts'
import type { Execution, ExecutionId, Fence, Instant } from '../records.ts'
import { refused } from '../results.ts'
import type { Refused } from '../results.ts'
import type { Position, Tx } from '../tx.ts'
import { beginCounting, countSignal, isMet, targetsOf } from './condition.ts'
import { hasExpired, isMailbox, journalOf, openWaitpointOf, scopeOf, stepKey, waitpointIdIn } from './journal.ts'
import { findStep, isFinal, putStep, refuseStep } from './record-step.ts'
import type { StepLimitRefusal } from './record-step.ts'
import { closeWait, currentStep } from './waits.ts'
import { openWaitpoint, viewOf } from './waitpoints.ts'
import type { WaitpointView } from './waitpoints.ts'

export interface SuspendInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  readonly stepKind: 'wait' | 'sleep'
  readonly name: string
  readonly nodes: readonly ConditionNode[]
  /** Targets that this wait opens itself. Any other must have been opened before, or be a mailbox. */
  readonly opens: readonly string[]
  readonly reason: string
  readonly timeoutMs?: number | undefined
  readonly onTimeout: TimeoutBehaviour
  readonly resumeDelayMs?: number | undefined
  readonly remindEveryMs?: number | undefined
  /** Refuses instead of going on if the condition is met already. */
  readonly strict?: boolean | undefined
  /** The key that tokens of waitpoints are signed with which this wait opens. */
  readonly keyId?: string | undefined
}

export type SuspendResult =
  | {
      readonly kind: 'suspended' | 'already_suspended'
      readonly until: Instant | undefined
      readonly waitpoints: WaitpointView[]
    }
  /** The wait has ended: now, by what had come early, or before. The lease is kept. */
  | { readonly kind: 'answered'; readonly step: Step }
  | { readonly kind: 'cancelled' | 'already_cancelled' }
  | LeaseRefusal
  | StepLimitRefusal
  | Refused<
      | 'execution_not_found'
      | 'waitpoint_not_found'
      | 'waitpoint_closed'
      | 'waitpoint_limit_exceeded'
      | 'already_satisfied'
    >

export function suspendExecution(tx: Tx, input: SuspendInput): SuspendResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (leaseEnded(execution, input.fence, 'suspended')) {
    const waitpoints = waitpointsOf(tx, execution)
    return { kind: 'already_suspended', until: execution.lastLease?.until, waitpoints }
  }
  if (leaseEnded(execution, input.fence, 'cancelled')) return { kind: 'already_cancelled' }
  const refusal = refuseUnlessHeld(tx, execution, input.fence)
  if (refusal !== undefined) return refusal
  const existing = findStep(tx, execution, input.stepKind, input.name)
  if (existing !== undefined && isFinal(existing, execution.journal)) return { kind: 'answered', step: existing }
  const targets = targetsOf(input.nodes)
  const unusable = refuseTargets(tx, execution, input, targets)
  if (unusable !== undefined) return unusable
  const limit = refuseStep(execution, existing, 0)
  if (limit !== undefined) return limit
  const heard = hearBuffered(tx, execution, input, targets)
  if (heard.isMet && input.strict === true) return refused('already_satisfied', { executionId: execution.id })

  if (cancelIfAsked(tx, execution)) return { kind: 'cancelled' }
  const journal = journalOf(execution)
  const until = input.timeoutMs === undefined ? undefined : tx.now + Math.max(0, input.timeoutMs)
  heard.wait.until = until
  bind(tx, execution, journal, input, targets)
  consume(tx, journal, heard)
  const step = putStep(tx, execution, existing, {
    kind: input.stepKind,
    name: input.name,
    attemptCount: (existing?.attemptCount ?? 0) + 1,
    size: 0,
    state: { phase: 'open', since: tx.now },
    wait: heard.wait,
  })
  if (heard.isMet) {
    closeWait(tx, execution, journal, step, { how: 'satisfied', cause: 'signal', by: undefined, reason: undefined })
    tx.put(execution)
    tx.emit('step_recorded', execution, { attempt: input.fence.attempt, step: step.name, effect: 'satisfied' })
    return { kind: 'answered', step }
  }
  const remindAt = input.remindEveryMs === undefined ? undefined : tx.now + input.remindEveryMs
  const key = stepKey(step.kind, step.name)
  suspend(tx, execution, { step: key, name: step.name, reason: input.reason, until, remindAt })
  return { kind: 'suspended', until, waitpoints: waitpointsOf(tx, execution) }
}

/** The waitpoints of the present wait, as its holder needs them to hand out tokens. */
function waitpointsOf(tx: Tx, execution: Execution): WaitpointView[] {
  const views: WaitpointView[] = []
  const journal = execution.journal
  for (const target of currentStep(tx, execution)?.wait?.targets ?? []) {
    if (journal === undefined || isMailbox(target)) continue
    const waitpoint = tx.get('waitpoint', waitpointIdIn(scopeOf(execution.id, journal), target))
    if (waitpoint !== undefined) views.push(viewOf(waitpoint, journal))
  }
  return views
}

function refuseTargets(
  tx: Tx,
  execution: Execution,
  input: SuspendInput,
  targets: readonly string[],
): Refused<'waitpoint_not_found' | 'waitpoint_closed' | 'waitpoint_limit_exceeded'> | undefined {
  const journal = execution.journal
  let openCount = journal?.open.length ?? 0
  for (const target of targets) {
    if (isMailbox(target)) continue
    const open = openWaitpointOf(journal, target)
    if (open !== undefined && !hasExpired(open, tx.now)) continue
    const detail = { executionId: execution.id, waitpoint: target }
    if (open !== undefined) return refused('waitpoint_closed', detail)
    if (!input.opens.includes(target)) {
      const exists = tx.has('waitpoint', waitpointIdIn(scopeOf(execution.id, journal), target))
      return refused(exists ? 'waitpoint_closed' : 'waitpoint_not_found', detail)
    }
    openCount = openCount + 1
  }
  if (openCount <= OPEN_WAITPOINT_MAX) return undefined
  return refused('waitpoint_limit_exceeded', { executionId: execution.id, limit: OPEN_WAITPOINT_MAX })
}

/** Makes the waitpoints of a wait its own: from now on the wait says how long they are open. */
function bind(tx: Tx, execution: Execution, journal: Journal, input: SuspendInput, targets: readonly string[]): void {
  for (const target of targets) {
    if (isMailbox(target)) continue
    const open = openWaitpointOf(journal, target)
    if (open === undefined) openWaitpoint(tx, execution, journal, target, undefined, input.keyId)
    else open.expiresAt = undefined
  }
}

/** What a new wait has heard of signals that came before it. */
interface Heard {
  readonly wait: Wait
  readonly isMet: boolean
  /** The waitpoints that had signals for it, and what they are left with. */
  readonly read: Waitpoint[]
  readonly consumedCount: number
}

/** Puts what came early to the condition, in the order of arrival, until the condition is met. Writes nothing. */
function hearBuffered(tx: Tx, execution: Execution, input: SuspendInput, targets: string[]): Heard {
  const nodes = beginCounting(input.nodes)
  const wait: Wait = {
    reason: input.reason,
    until: undefined,
    onTimeout: input.onTimeout,
    nodes,
    targets,
    resumeDelayMs: input.resumeDelayMs,
    remindEveryMs: input.remindEveryMs,
    reminderCount: 0,
    satisfiers: [],
    closer: undefined,
    isEscalated: false,
  }
  const read: Waitpoint[] = []
  const journal = execution.journal
  if (journal === undefined || journal.bufferedCount === 0) return { wait, isMet: false, read, consumedCount: 0 }
  const scope = scopeOf(execution.id, journal)
  const inboxes: BufferedSignal[][] = []
  for (const target of targets) {
    // A waitpoint that this wait opens starts empty, whatever an earlier one of this name had.
    if (!isMailbox(target) && openWaitpointOf(journal, target) === undefined) continue
    const waitpoint = tx.get('waitpoint', waitpointIdIn(scope, target))
    if (waitpoint === undefined || waitpoint.bufferedCount === 0) continue
    read.push(waitpoint)
    inboxes.push(readInbox(tx, waitpoint))
  }
  let consumedCount = 0
  for (const { signal } of mergeOrdered(inboxes, BUFFERED_SIGNAL_MAX)) {
    consumedCount = consumedCount + 1
    for (const waitpoint of read) if (waitpoint.target === signal.target) take(waitpoint, signal)
    const effect = countSignal(nodes, signal)
    if (effect !== 'counted' && effect !== 'resumed') continue
    wait.satisfiers.push(signal.sequence)
    if (effect !== 'resumed') continue
    wait.closer = signal.sequence
    break
  }
  return { wait, isMet: isMet(nodes), read, consumedCount }
}

/** A signal in the order of arrival. */
interface BufferedSignal {
  readonly score: number
  readonly id: string
  readonly signal: Signal
}

function readInbox(tx: Tx, waitpoint: Waitpoint): BufferedSignal[] {
  const buffered: BufferedSignal[] = []
  let from: Position | undefined = { score: waitpoint.consumedThrough + 1 }
  while (from !== undefined && buffered.length < BUFFERED_SIGNAL_MAX) {
    const page: Signal[] = tx.scan({ index: inboxIndex(waitpoint.id), from, limit: SIGNAL_PAGE_MAX }, 'signal')
    for (const signal of page) buffered.push({ score: signal.sequence, id: signal.id, signal })
    const last = page[page.length - 1]
    from = page.length < SIGNAL_PAGE_MAX || last === undefined ? undefined : { score: last.sequence + 1 }
  }
  return buffered
}

function take(waitpoint: Waitpoint, signal: Signal): void {
  waitpoint.consumedThrough = signal.sequence
  waitpoint.bufferedCount = waitpoint.bufferedCount - 1
}

function consume(tx: Tx, journal: Journal, heard: Heard): void {
  journal.bufferedCount = journal.bufferedCount - heard.consumedCount
  for (const waitpoint of heard.read) tx.put(waitpoint)
}
