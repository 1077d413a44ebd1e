/**
 * Delivers a signal to an execution. Buffers an early signal, returns the first answer for a duplicate, resumes the
 * execution if its condition is met, and refuses a late signal: the result is the same whether or not a due pass has run since
 * a time limit passed. The caller has authenticated the sender; the binding of
 * a token is checked here.
 */
import { signalPayloadKey } from '../../model/blob-keys.ts'
import type { BlobInput, Tx } from '../../tx.ts'
import type { SenderCount, SignalEffect, SignalSource, Step, Waitpoint } from '../../model/journal-schema.ts'
import {
  BUFFERED_SIGNAL_MAX,
  LINK_BUFFERED_MAX,
  LINK_SIGNAL_MAX,
  SENDER_MAX,
  SENDER_SIGNAL_MAX,
  SIGNAL_MAX,
} from '../../limits.ts'
import type { Execution, ExecutionId, Instant } from '../../model/records.ts'
import { refused, refusedFor } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { countSignal } from '../../rules/condition.ts'
import { hasExpired, isMailbox, openWaitpointOf, scopeOf, signalIdAt, waitpointIdIn } from '../../rules/journal-ids.ts'
import { recordSignal } from '../../lifecycle/journal/record-signal.ts'
import { mailboxAt } from '../../lifecycle/journal/waitpoint-records.ts'
import { stopAtDeadline } from '../../lifecycle/endings/end-execution.ts'
import { hasTimedOut, timeOutWait, timeoutEffect } from '../../lifecycle/endings/time-out-wait.ts'
import type { LimitEffect } from '../../lifecycle/endings/time-out-wait.ts'
import { currentStep } from '../../lifecycle/find-step.ts'
import { hasStepsToUndo, isPastDeadline, isPastUnwinding } from '../../rules/execution-state.ts'
import { resumeFrom } from '../../lifecycle/journal/end-wait.ts'

/** The binding of a verified token. */
export interface TokenBinding {
  readonly waitpointId: string
  readonly generation: number
  /** When the waitpoint was opened. An execution that was removed and submitted again has the same ids. */
  readonly openedAt: Instant
  /** The random text of the opening. Absent for a waitpoint that was opened without one. */
  readonly nonce?: string | undefined
}

export interface DeliverSignalInput {
  readonly executionId: ExecutionId
  /** A waitpoint's key, or the mailbox of the signal's name. */
  readonly target: string
  /** Chosen by the sender, the same for every repetition of one signal. */
  readonly key: string
  readonly name: string
  readonly source: SignalSource
  readonly payload?: BlobInput | undefined
  /** Without it the call has the authority of a program with access to the store. */
  readonly token?: TokenBinding | undefined
  /** The signed token itself, from a program without access to the store: its server verifies it, and removes it here. */
  readonly link?: string | undefined
}

export type DeliverSignalResult =
  | {
      readonly kind: 'delivered' | 'duplicate'
      /** The signal's number in its execution. */
      readonly sequence: number
      readonly effect: SignalEffect
      readonly at: Instant
    }
  | Refused<
      | 'execution_not_found'
      | 'execution_ended'
      | 'waitpoint_not_found'
      | 'waitpoint_closed'
      | 'token_expired'
      | 'signal_limit_exceeded'
      | 'signal_buffer_full'
    >

export function deliverSignal(tx: Tx, input: DeliverSignalInput): DeliverSignalResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  const detail = { executionId: execution.id, waitpoint: input.target }
  const id = waitpointIdIn(scopeOf(execution.id, execution.journal), input.target)
  const existing = tx.get('waitpoint', id)
  if (input.token !== undefined) {
    if (existing === undefined || input.token.waitpointId !== id) return refused('waitpoint_not_found', detail)
    if (!isBoundTo(input.token, existing)) return refused('token_expired', detail)
  }
  const known = tx.get('signal', signalIdAt(id, existing?.round ?? 1, input.key))
  if (known !== undefined) return { kind: 'duplicate', sequence: known.sequence, effect: known.effect, at: known.at }
  if (execution.state.phase === 'ended') return refusedFor('execution_ended', execution)
  const current = openStepOf(tx, execution)
  const late = passedLimit(tx, execution, current)
  if (late?.effect === 'ends') return refusedFor('execution_ended', execution)
  const isAwaited = current?.wait?.targets.includes(input.target) === true
  // An escalated wait continues; any other limit ends it.
  const isOver = late !== undefined && late.effect !== 'escalates'
  if (!isMailbox(input.target)) {
    if (existing === undefined) return refused('waitpoint_not_found', detail)
    const open = openWaitpointOf(execution.journal, input.target)
    if (open === undefined || hasExpired(open, tx.now)) return refused('waitpoint_closed', detail)
    // The end of a wait closes its own waitpoints, and a stop closes all.
    if (isOver && (isAwaited || late.effect === 'stops')) return refused('waitpoint_closed', detail)
  }
  const step = isAwaited && !isOver ? current : undefined
  const sequence = (execution.journal?.signalCount ?? 0) + 1
  const effect = step === undefined ? 'buffered' : effectOf(step, input, sequence)
  const limit = limitReached(execution, existing, input)
  if (limit !== undefined) return refused('signal_limit_exceeded', { executionId: execution.id, limit })
  const room = effect === 'buffered' ? bufferReached(existing, input) : undefined
  if (room !== undefined) return refused('signal_buffer_full', { executionId: execution.id, limit: room })

  late?.apply()
  return accept(tx, execution, input, { existing, step, effect })
}

/** The time of the opening may repeat if a clock was set back, the nonce does not. */
function isBoundTo({ generation, openedAt, nonce }: TokenBinding, waitpoint: Waitpoint): boolean {
  return generation === waitpoint.generation && openedAt === waitpoint.createdAt && nonce === waitpoint.nonce
}

/** A time limit that has passed, and that no due pass has applied yet. */
type PassedLimit =
  { readonly effect: 'ends' } | { readonly effect: Exclude<LimitEffect, 'ends'>; readonly apply: () => void }

/** Returns the limit that a due pass would apply first. */
function passedLimit(tx: Tx, execution: Execution, current: Step | undefined): PassedLimit | undefined {
  if (isPastDeadline(execution, tx.now)) {
    if (!hasStepsToUndo(execution)) return { effect: 'ends' }
    return { effect: 'stops', apply: () => stopAtDeadline(tx, execution) }
  }
  if (isPastUnwinding(execution, tx.now)) return { effect: 'ends' }
  const wait = hasTimedOut(execution, tx.now) ? current?.wait : undefined
  if (current === undefined || wait === undefined) return undefined
  const effect = timeoutEffect(execution, wait.onTimeout)
  return effect === 'ends' ? { effect } : { effect, apply: () => timeOutWait(tx, execution, current, wait) }
}

/** Returns the wait or sleep that the execution is in. */
function openStepOf(tx: Tx, execution: Execution): Step | undefined {
  const step = currentStep(tx, execution)
  return step?.state.phase === 'open' ? step : undefined
}

/** Returns the limit of accepted signals that one more would exceed. Links and programs have a limit of their own. */
function limitReached(
  execution: Execution,
  waitpoint: Waitpoint | undefined,
  input: DeliverSignalInput,
): number | undefined {
  const linkCount = execution.journal?.linkSignalCount ?? 0
  if (input.source.type !== 'token') {
    return (execution.journal?.signalCount ?? 0) - linkCount >= SIGNAL_MAX ? SIGNAL_MAX : undefined
  }
  if (linkCount >= LINK_SIGNAL_MAX) return LINK_SIGNAL_MAX
  if (waitpoint === undefined) return undefined
  const sender = senderAt(waitpoint, input.source.identity)
  if (sender === undefined) return waitpoint.senders.length >= SENDER_MAX ? SENDER_MAX : undefined
  return sender.count >= SENDER_SIGNAL_MAX ? SENDER_SIGNAL_MAX : undefined
}

/**
 * Returns the room at the target that one more buffered signal would exceed. Programs and links have rooms of their own, and
 * the first signal of each holder of a link always has room, so that no holder can keep others from voting.
 */
function bufferReached(waitpoint: Waitpoint | undefined, input: DeliverSignalInput): number | undefined {
  if (waitpoint === undefined) return undefined
  const linkCount = waitpoint.linkBufferedCount ?? 0
  if (input.source.type !== 'token') {
    return waitpoint.bufferedCount - linkCount >= BUFFERED_SIGNAL_MAX ? BUFFERED_SIGNAL_MAX : undefined
  }
  if (senderAt(waitpoint, input.source.identity) === undefined) return undefined
  return linkCount >= LINK_BUFFERED_MAX ? LINK_BUFFERED_MAX : undefined
}

function senderAt(waitpoint: Waitpoint, identity: string): SenderCount | undefined {
  for (const sender of waitpoint.senders) if (sender.identity === identity) return sender
  return undefined
}

interface Delivery {
  /** The waitpoint, if it exists. */
  readonly existing: Waitpoint | undefined
  /** The wait that the signal is counted for. */
  readonly step: Step | undefined
  readonly effect: SignalEffect
}

function accept(tx: Tx, execution: Execution, input: DeliverSignalInput, delivery: Delivery): DeliverSignalResult {
  const { existing, step, effect } = delivery
  const waitpoint = mailboxAt(tx, execution, input.target, existing)
  if (input.source.type === 'token') {
    const sender = senderAt(waitpoint, input.source.identity)
    if (sender === undefined) waitpoint.senders.push({ identity: input.source.identity, count: 1 })
    else sender.count = sender.count + 1
  }
  const signal = recordSignal(tx, execution, waitpoint, { ...input, effect, step: step?.name })
  if (input.payload !== undefined) tx.keep(signalPayloadKey(signal.id), input.payload.blob)
  const { sequence } = signal
  if (step !== undefined && effect === 'resumed') {
    const by = input.source.identity
    resumeFrom(tx, execution, step, { how: 'satisfied', cause: 'signal', by, reason: input.name })
    return { kind: 'delivered', sequence, effect, at: tx.now }
  }
  if (step !== undefined) tx.put(step)
  tx.put(execution)
  return { kind: 'delivered', sequence, effect, at: tx.now }
}

/** Matches a signal against the condition of the wait. A mailbox buffers a signal that does not count. */
function effectOf(step: Step, input: DeliverSignalInput, sequence: number): SignalEffect {
  const wait = step.wait
  if (wait === undefined) return 'buffered'
  const effect = countSignal(wait.nodes, input)
  if (effect === 'counted' || effect === 'resumed') wait.satisfiers.push(sequence)
  else if (isMailbox(input.target)) return 'buffered'
  if (effect === 'resumed') wait.closer = sequence
  return effect
}
