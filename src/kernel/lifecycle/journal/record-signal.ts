/** Writes signals, which no other code does: numbered, counted at the waitpoint, and recorded in the event log. */
import { expectAbsent } from '../expect-absent.ts'
import type { Signal, SignalEffect, SignalSource, Waitpoint } from '../../model/journal-schema.ts'
import type { BlobInfo, Execution } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'
import { journalOf, signalIdAt } from '../../rules/journal-ids.ts'

export interface SignalContent {
  readonly key: string
  readonly name: string
  readonly source: SignalSource
  readonly payload?: BlobInfo | undefined
  readonly effect: SignalEffect
  /** The name of the wait that the signal was matched against. */
  readonly step: string | undefined
}

/** Puts the signal and its waitpoint. The caller puts the execution. */
export function recordSignal(tx: Tx, execution: Execution, waitpoint: Waitpoint, content: SignalContent): Signal {
  const journal = journalOf(execution)
  const { key, name, source, payload, effect, step } = content
  const { round, target } = waitpoint
  const isWaiting = effect === 'buffered'
  const isByLink = source.type === 'token'
  const sequence = journal.signalCount + 1
  journal.signalCount = sequence
  if (isByLink) journal.linkSignalCount = (journal.linkSignalCount ?? 0) + 1
  waitpoint.signalCount = waitpoint.signalCount + 1
  waitpoint.lastSignalAt = tx.now
  if (isWaiting) {
    waitpoint.bufferedCount = waitpoint.bufferedCount + 1
    journal.bufferedCount = journal.bufferedCount + 1
    if (isByLink) waitpoint.linkBufferedCount = (waitpoint.linkBufferedCount ?? 0) + 1
  }
  const signal: Signal = {
    type: 'signal',
    id: signalIdAt(waitpoint.id, round, key),
    executionId: execution.id,
    target,
    sequence,
    round,
    key,
    name,
    source: { type: source.type, identity: source.identity },
    payload: payload === undefined ? undefined : { size: payload.size, encoding: payload.encoding },
    effect,
    isWaiting,
    at: tx.now,
    isTaken: undefined,
  }
  expectAbsent(tx, 'signal', signal.id)
  tx.put(waitpoint)
  tx.put(signal)
  tx.emit('signal_received', execution, { waitpoint: target, signal: name, step, effect, by: source.identity })
  return signal
}
