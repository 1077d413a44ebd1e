/**
 * Takes signals from a mailbox while the handler runs: removes those that the handler is done with from the buffer, and
 * returns those that follow. Fenced by the lease. A signal that was taken is given to no later run and counted by no wait.
 */
import { bufferedSignalsIndex } from '../../model/indexes.ts'
import { signalPayloadKey } from '../../model/blob-keys.ts'
import { INBOX_PAGE_MAX, SIGNAL_PAGE_BYTES } from '../../limits.ts'
import { refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import type { Signal } from '../../model/journal-schema.ts'
import type { ExecutionId, Fence, Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { journalOf, mailboxOf, scopeOf, waitpointIdIn } from '../../rules/journal-ids.ts'
import type { Range, Tx } from '../../tx.ts'
import type { SignalView } from './read-journal.ts'

export interface TakeSignalsInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  /** The name of the signals. */
  readonly name: string
  /** The handler is done with buffered signals up to this number. 0: with none. */
  readonly takenTo: number
  /** How many of those that follow to return. 0: only takes. */
  readonly limit: number
}

export type TakeSignalsResult =
  | { readonly kind: 'taken'; readonly signals: SignalView[]; readonly at: Instant }
  | LeaseRefusal
  | Refused<'execution_not_found'>

export function takeSignals(tx: Tx, input: TakeSignalsInput): TakeSignalsResult {
  const { executionId, takenTo } = input
  const execution = tx.get('execution', executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId })
  const refusal = refuseUnlessHeld(tx, execution, input.fence)
  if (refusal !== undefined) return refusal
  const id = waitpointIdIn(scopeOf(execution.id, execution.journal), mailboxOf(input.name))
  const mailbox = tx.get('waitpoint', id)
  if (mailbox === undefined || mailbox.bufferedCount === 0) return { kind: 'taken', signals: [], at: tx.now }
  const page = tx.scan(takenRange(id, input), 'signal')
  const done: Signal[] = []
  const following: Signal[] = []
  for (const signal of page) (signal.sequence <= takenTo ? done : following).push(signal)

  let linkCount = 0
  for (const signal of done) {
    signal.isWaiting = false
    signal.isTaken = true
    if (signal.source.type === 'token') linkCount = linkCount + 1
    tx.put(signal)
  }
  if (done.length > 0) {
    const journal = journalOf(execution)
    mailbox.bufferedCount = mailbox.bufferedCount - done.length
    mailbox.linkBufferedCount = Math.max(0, (mailbox.linkBufferedCount ?? 0) - linkCount)
    journal.bufferedCount = journal.bufferedCount - done.length
    tx.put(mailbox)
    tx.put(execution)
  }
  return { kind: 'taken', signals: viewsOf(tx, following, input.limit), at: tx.now }
}

/** Room for the signals that are taken, and for those that follow. */
export function takenRange(mailboxId: string, { limit }: TakeSignalsInput): Range {
  const following = Math.min(Math.max(0, limit), INBOX_PAGE_MAX)
  return { index: bufferedSignalsIndex(mailboxId), limit: INBOX_PAGE_MAX + following }
}

function viewsOf(tx: Tx, signals: readonly Signal[], limit: number): SignalView[] {
  const views: SignalView[] = []
  let bytes = 0
  for (const signal of signals) {
    bytes = bytes + (signal.payload?.size ?? 0)
    if (views.length >= Math.min(limit, INBOX_PAGE_MAX) || (views.length > 0 && bytes > SIGNAL_PAGE_BYTES)) break
    const { payload } = signal
    const payloadBlob = payload === undefined ? undefined : tx.send(signalPayloadKey(signal.id), payload.size)
    views.push({ signal, payloadBlob })
  }
  return views
}
