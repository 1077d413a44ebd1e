/** Opens and closes waitpoints. */
import type { Journal, Waitpoint } from '../../model/journal-schema.ts'
import type { Execution, Instant } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'
import { journalOf, openWaitpointOf, scopeOf, waitpointIdIn, withoutTargets } from '../../rules/journal-ids.ts'

/** What a holder needs to sign tokens for a waitpoint. */
export interface WaitpointView {
  readonly target: string
  /** Binds tokens to this waitpoint of this life of the execution. */
  readonly waitpointId: string
  readonly generation: number
  readonly keyId: string | undefined
  readonly nonce: string | undefined
  readonly createdAt: Instant
  readonly isOpen: boolean
  readonly expiresAt: Instant | undefined
}

export function viewOf(waitpoint: Waitpoint, journal: Journal): WaitpointView {
  const open = openWaitpointOf(journal, waitpoint.target)
  return {
    target: waitpoint.target,
    waitpointId: waitpoint.id,
    generation: waitpoint.generation,
    keyId: waitpoint.keyId,
    nonce: waitpoint.nonce,
    createdAt: waitpoint.createdAt,
    isOpen: open !== undefined,
    expiresAt: open?.expiresAt,
  }
}

export interface Opening {
  readonly target: string
  readonly expiresAt?: Instant | undefined
  /** The key that signs its tokens. */
  readonly keyId: string | undefined
  /** A random text that its tokens contain. */
  readonly nonce: string | undefined
}

/** Opens a new waitpoint. Tokens and signals of an earlier waitpoint of the same name do not apply to it. */
export function openWaitpoint(tx: Tx, execution: Execution, opening: Opening): Waitpoint {
  const { target, expiresAt, keyId, nonce } = opening
  const journal = journalOf(execution)
  const id = waitpointIdIn(scopeOf(execution.id, journal), target)
  const existing = tx.get('waitpoint', id)
  journal.bufferedCount = journal.bufferedCount - (existing?.bufferedCount ?? 0)
  const waitpoint = newWaitpoint(tx, execution, target, existing)
  waitpoint.keyId = keyId
  waitpoint.nonce = nonce
  tx.put(waitpoint)
  reopenWaitpoint(tx, execution, target, expiresAt)
  return waitpoint
}

/** Reopens a waitpoint that only the end of its execution closed. Its tokens and buffered signals stay valid. */
export function reopenWaitpoint(tx: Tx, execution: Execution, target: string, expiresAt: Instant | undefined): void {
  journalOf(execution).open.push({ target, since: tx.now, expiresAt })
  tx.emit('waitpoint_opened', execution, { waitpoint: target, until: expiresAt })
}

function newWaitpoint(tx: Tx, execution: Execution, target: string, existing: Waitpoint | undefined): Waitpoint {
  const journal = journalOf(execution)
  return {
    type: 'waitpoint',
    id: waitpointIdIn(scopeOf(execution.id, journal), target),
    executionId: execution.id,
    target,
    createdAt: tx.now,
    round: (existing?.round ?? 0) + 1,
    generation: (existing?.generation ?? 0) + 1,
    keyId: undefined,
    signalCount: existing?.signalCount ?? 0,
    bufferedCount: 0,
    openedAfter: journal.signalCount,
    senders: [],
    lastSignalAt: existing?.lastSignalAt,
    closedAt: undefined,
    closeReason: undefined,
    answeredBy: undefined,
    linkBufferedCount: undefined,
    nonce: undefined,
  }
}

/** Returns the mailbox of a signal's name. A mailbox needs no opening. The caller puts it. */
export function mailboxAt(tx: Tx, execution: Execution, target: string, existing: Waitpoint | undefined): Waitpoint {
  return existing ?? newWaitpoint(tx, execution, target, undefined)
}

export interface Closing {
  readonly targets: readonly string[]
  readonly reason: string
  /** The wait that was answered at them. */
  readonly answeredBy?: string | undefined
}

/** Closes waitpoints for good and drops their buffered signals. The caller puts the execution. */
export function closeWaitpoints(tx: Tx, execution: Execution, closing: Closing): void {
  const { targets, reason, answeredBy } = closing
  const journal = journalOf(execution)
  const scope = scopeOf(execution.id, journal)
  const ids: string[] = []
  for (const { target } of journal.open) if (targets.includes(target)) ids.push(waitpointIdIn(scope, target))
  // One read for all, so that a remote store needs one round trip.
  const waitpoints = tx.getMany('waitpoint', ids)
  if (waitpoints.length < ids.length) return tx.fault('an open waitpoint has no record', execution.id)
  journal.open = withoutTargets(journal.open, targets)
  for (const waitpoint of waitpoints) {
    journal.bufferedCount = journal.bufferedCount - waitpoint.bufferedCount
    waitpoint.bufferedCount = 0
    waitpoint.linkBufferedCount = undefined
    waitpoint.closedAt = tx.now
    waitpoint.closeReason = reason
    waitpoint.answeredBy = answeredBy
    tx.put(waitpoint)
  }
}
