/**
 * Follow-ups: one more run of an execution with another input, which begins in the operation that ends the present run. An
 * execution has at most one; a later one takes its place. Epoch, attempt numbers and history continue.
 */
import { recordAttempt } from './attempts.ts'
import { blobInfo, delayOf, newExecution } from './new-execution.ts'
import type { CreateInput } from './new-execution.ts'
import { enterQueue } from './queues.ts'
import { PAST_REQUEST_MAX } from '../limits.ts'
import { followUpKey, otherSlot, payloadKeyOf, resultKey } from '../model/blob-keys.ts'
import type { BlobInfo, Execution, FollowUp } from '../model/records.ts'
import { nextJournal } from '../rules/journal-ids.ts'
import type { Tx } from '../tx.ts'

/** The part of a submit that a follow-up stores; the rest is the same for all submits of one id, or stored as bytes. */
type RunSettings = Omit<
  CreateInput,
  'executionId' | 'key' | 'namespace' | 'payload' | 'ifExists' | 'schedule' | 'shaping'
>

/** Every setting by its name, so that the compiler reports one that a follow-up would lose. */
type AllSettings = { readonly [K in keyof Required<RunSettings>]: RunSettings[K] }

/** Stores the follow-up of an execution that has not ended, or whose children are still to be cancelled. It takes the place of a pending one. */
export function setFollowUp(tx: Tx, execution: Execution, input: CreateInput): void {
  const displaced = execution.followUp
  if (displaced !== undefined) forgetFollowUp(tx, execution, displaced)
  execution.followUp = {
    ...settingsIn(input),
    tags: [...input.tags],
    payload: blobInfo(input.payload),
    at: tx.now,
    hasDisplaced: displaced !== undefined,
  }
  if (input.payload !== undefined) tx.keep(followUpKey(execution), input.payload.blob)
  tx.put(execution)
  tx.emit('follow_up_set', execution, {})
}

/** Drops a pending follow-up. Returns whether there was one. */
export function dropFollowUp(tx: Tx, execution: Execution, by: string, reason: string): boolean {
  const followUp = execution.followUp
  if (followUp === undefined) return false
  forgetFollowUp(tx, execution, followUp)
  tx.put(execution)
  tx.emit('follow_up_dropped', execution, { by, reason })
  return true
}

/** Begins the follow-up of an execution that has just ended. */
export function beginFollowUp(tx: Tx, execution: Execution, followUp: FollowUp): void {
  tx.forget(payloadKeyOf(execution))
  restart(tx, execution, followUp, { payload: followUp.payload, slot: otherSlot(execution) })
  tx.emit('follow_up_started', execution, { until: delayOf(execution) })
}

/** Runs an ended execution once more, with the input of a submit. */
export function runOnceMore(tx: Tx, execution: Execution, input: CreateInput): void {
  tx.forget(payloadKeyOf(execution))
  restart(tx, execution, input, { payload: blobInfo(input.payload), slot: execution.payloadSlot })
  if (input.payload !== undefined) tx.keep(payloadKeyOf(execution), input.payload.blob)
  tx.emit('follow_up_started', execution, { until: delayOf(execution) })
}

/** Returns the number of the run that comes after an ended one. */
export function nextRun({ run = 0 }: Execution): number {
  return run + 1
}

/** Whether a submit is the repetition of one that an execution has had and is past. */
export function isPastRequest(execution: Execution, requestId: string | undefined): boolean {
  return requestId !== undefined && execution.pastRequests?.includes(requestId) === true
}

interface StoredInput {
  readonly payload: BlobInfo | undefined
  readonly slot: number | undefined
}

/** Resets an ended execution to the start of a new run, and puts it. */
function restart(tx: Tx, execution: Execution, run: RunSettings, input: StoredInput): void {
  const { id, key, namespace, state, attempt, journal } = execution
  // A completed attempt is part of the execution's record; the next attempt replaces it there.
  if (state.phase === 'ended' && state.outcome === 'completed') {
    recordAttempt(tx, execution, { outcome: 'completed', endedAt: state.at, failure: undefined })
  }
  tx.forget(resultKey(id))
  const fresh = newExecution(tx, { ...settingsIn(run), executionId: id, key, namespace }, execution.epoch)
  fresh.payload = input.payload
  fresh.payloadSlot = input.slot
  fresh.attempt = attempt
  // The last call of the holder may be repeated.
  fresh.lastLease = execution.unwinding === undefined ? execution.lastLease : asUnwound(execution.lastLease)
  if (journal !== undefined) fresh.journal = nextJournal(journal)
  fresh.run = nextRun(execution)
  fresh.pastRequests = withPast(execution, execution.requestId)
  Object.assign(execution, fresh)
  enterQueue(tx, execution)
  tx.put(execution)
}

function asUnwound(lease: Execution['lastLease']): Execution['lastLease'] {
  return lease === undefined ? undefined : { ...lease, how: 'unwound' }
}

function forgetFollowUp(tx: Tx, execution: Execution, followUp: FollowUp): void {
  tx.forget(followUpKey(execution))
  execution.followUp = undefined
  execution.pastRequests = withPast(execution, followUp.requestId)
}

/** Returns the latest submits of an execution that are past, with one more. */
export function withPast({ pastRequests = [] }: Execution, requestId: string | undefined): readonly string[] {
  return requestId === undefined ? pastRequests : [...pastRequests, requestId].slice(-PAST_REQUEST_MAX)
}

function settingsIn(from: RunSettings): AllSettings {
  return {
    requestId: from.requestId,
    task: from.task,
    version: from.version,
    lane: from.lane,
    class: from.class,
    needs: from.needs,
    priority: from.priority,
    tags: from.tags,
    retry: from.retry,
    delayMs: from.delayMs === undefined ? undefined : Math.max(0, from.delayMs),
    attemptTimeoutMs: from.attemptTimeoutMs,
    totalTimeoutMs: from.totalTimeoutMs,
    compensationTimeoutMs: from.compensationTimeoutMs,
    retentionMs: from.retentionMs,
    dedupeMs: from.dedupeMs,
    digest: from.digest,
    fairness: from.fairness,
    limits: from.limits,
    trace: from.trace,
    retentions: from.retentions,
  }
}
