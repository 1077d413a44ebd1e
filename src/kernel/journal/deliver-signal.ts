/**
 * Somebody tells an execution something. One operation for every case: what comes early is kept, what comes twice is
 * answered as it was the first time, what meets the condition of a wait lets the execution go on, what comes late is refused.
 * Who sent it was established before, outside; what a token was bound to is compared here.
 */
import { signalPayloadKey } from '../blobs.ts'
import type { BlobInput } from '../create-execution.ts'
import type { Signal, SignalEffect, SignalSource, Step, Waitpoint } from '../journal-records.ts'
import { BUFFERED_SIGNAL_MAX, SIGNAL_MAX } from '../limits.ts'
import type { Execution, ExecutionId, Instant } from '../records.ts'
import { refused, refusedFor } from '../results.ts'
import type { Refused } from '../results.ts'
import type { Tx } from '../tx.ts'
import { countSignal } from './condition.ts'
import { hasExpired, isMailbox, journalOf, openWaitpointOf, scopeOf, signalIdAt, waitpointIdIn } from './journal.ts'
import { mailboxAt } from './waitpoints.ts'
import { currentStep, resumeFrom } from './waits.ts'

/** What a verified token was bound to. */
export interface TokenBinding {
  readonly waitpointId: string
  readonly generation: number
}

export interface DeliverSignalInput {
  readonly executionId: ExecutionId
  /** A waitpoint's key, or the mailbox of the signal's name. */
  readonly target: string
  /** The sender's own: the same for every repetition of one signal. */
  readonly key: string
  readonly name: string
  readonly source: SignalSource
  readonly payload?: BlobInput | undefined
  /** Without it the call speaks with the authority of a program that may use the store. */
  readonly token?: TokenBinding | undefined
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
    >

export function deliverSignal(tx: Tx, input: DeliverSignalInput): DeliverSignalResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  const detail = { executionId: execution.id, waitpoint: input.target }
  const id = waitpointIdIn(scopeOf(execution.id, execution.journal), input.target)
  const existing = tx.get('waitpoint', id)
  if (input.token !== undefined) {
    if (existing === undefined || input.token.waitpointId !== id) return refused('waitpoint_not_found', detail)
    if (input.token.generation !== existing.generation) return refused('token_expired', detail)
  }
  const known = tx.get('signal', signalIdAt(id, existing?.round ?? 1, input.key))
  if (known !== undefined) return { kind: 'duplicate', sequence: known.sequence, effect: known.effect, at: known.at }
  if (execution.state.phase === 'ended') return refusedFor('execution_ended', execution)
  if (!isMailbox(input.target)) {
    if (existing === undefined) return refused('waitpoint_not_found', detail)
    const open = openWaitpointOf(execution.journal, input.target)
    if (open === undefined || hasExpired(open, tx.now)) return refused('waitpoint_closed', detail)
  }
  const step = currentStep(tx, execution)
  const isAwaited = step?.wait?.targets.includes(input.target) === true && step.state.phase === 'open'
  const counts = execution.journal
  if ((counts?.signalCount ?? 0) >= SIGNAL_MAX) {
    return refused('signal_limit_exceeded', { executionId: execution.id, limit: SIGNAL_MAX })
  }
  if (!isAwaited && (counts?.bufferedCount ?? 0) >= BUFFERED_SIGNAL_MAX) {
    return refused('signal_limit_exceeded', { executionId: execution.id, limit: BUFFERED_SIGNAL_MAX })
  }

  return accept(tx, execution, input, existing, isAwaited ? step : undefined)
}

function accept(
  tx: Tx,
  execution: Execution,
  input: DeliverSignalInput,
  existing: Waitpoint | undefined,
  step: Step | undefined,
): DeliverSignalResult {
  const journal = journalOf(execution)
  const sequence = journal.signalCount + 1
  const waitpoint = mailboxAt(tx, execution, journal, input.target, existing)
  journal.signalCount = sequence
  const effect = step === undefined ? 'buffered' : count(step, input, sequence)
  waitpoint.signalCount = waitpoint.signalCount + 1
  waitpoint.lastSignalAt = tx.now
  if (step === undefined) {
    waitpoint.bufferedCount = waitpoint.bufferedCount + 1
    journal.bufferedCount = journal.bufferedCount + 1
  } else {
    waitpoint.consumedThrough = sequence
  }
  tx.put(waitpoint)
  const signal = newSignal(tx, input, waitpoint, sequence, effect)
  tx.put(signal)
  if (input.payload !== undefined) tx.keep(signalPayloadKey(signal.id), input.payload.blob)
  tx.emit('signal_received', execution, {
    waitpoint: input.target,
    signal: input.name,
    step: step?.name,
    effect,
    by: input.source.identity,
  })
  if (step !== undefined && effect === 'resumed') {
    resumeFrom(tx, execution, step, {
      how: 'satisfied',
      cause: 'signal',
      by: input.source.identity,
      reason: input.name,
    })
    return { kind: 'delivered', sequence, effect, at: tx.now }
  }
  if (step !== undefined) tx.put(step)
  tx.put(execution)
  return { kind: 'delivered', sequence, effect, at: tx.now }
}

/** Puts a signal to the condition of the wait that it was sent to. */
function count(step: Step, input: DeliverSignalInput, sequence: number): Exclude<SignalEffect, 'buffered'> {
  const wait = step.wait
  if (wait === undefined) return 'not_awaited'
  const effect = countSignal(wait.nodes, input)
  if (effect === 'counted' || effect === 'resumed') wait.satisfiers.push(sequence)
  if (effect === 'resumed') wait.closer = sequence
  return effect
}

function newSignal(
  tx: Tx,
  input: DeliverSignalInput,
  waitpoint: Waitpoint,
  sequence: number,
  effect: SignalEffect,
): Signal {
  const payload = input.payload
  return {
    type: 'signal',
    id: signalIdAt(waitpoint.id, waitpoint.round, input.key),
    executionId: input.executionId,
    target: input.target,
    sequence,
    round: waitpoint.round,
    key: input.key,
    name: input.name,
    source: { type: input.source.type, identity: input.source.identity },
    payload: payload === undefined ? undefined : { size: payload.size, encoding: payload.encoding },
    effect,
    at: tx.now,
  }
}
