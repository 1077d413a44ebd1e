/** A partition with an execution in hand, whose journal can be as many calls would leave it. */
import type { Claimed, Journal, SignalSource, Waitpoint } from '../../src/kernel/index.ts'
import { journalOf, waitpointIdIn } from '../../src/kernel/rules/journal-ids.ts'
import { Partition } from './partition.ts'

/** A mailbox, to which signals can be sent without a waitpoint. */
export const MAILBOX = '@vote'

export const ada: SignalSource = { type: 'caller', identity: 'ada' }
export const adaByLink: SignalSource = { type: 'token', identity: 'ada' }
export const bobByLink: SignalSource = { type: 'token', identity: 'bob' }

export class HeldPartition extends Partition {
  readonly held: Claimed

  constructor(journal: Partial<Journal> = {}) {
    super()
    this.submit()
    this.held = this.hold()
    this.change(journal)
  }

  change(fields: Partial<Journal>): void {
    const execution = this.execution(this.held.executionId)
    Object.assign(journalOf(execution), fields)
    this.write((tx) => tx.put(execution))
  }

  changeMailbox(fields: Partial<Waitpoint>): void {
    this.write((tx) => {
      const waitpoint = tx.get('waitpoint', waitpointIdIn(this.held.executionId, MAILBOX))
      if (waitpoint === undefined) throw new Error('There is no mailbox.')
      tx.put({ ...waitpoint, ...fields })
    })
  }

  /** Records a result of the given size. */
  record(name: string, size: number, isCompensation = false): unknown {
    const { executionId, fence } = this.held
    const outcome = { kind: 'completed', value: { blob: 0, size, encoding: 'json' } } as const
    const input = { executionId, fence, stepKind: 'call', name, attemptCount: 1, outcome, isCompensation } as const
    return outcomeOf(this.run('recordStep', input))
  }

  signal(key: string, source: SignalSource, size = 1): unknown {
    const { executionId } = this.held
    const payload = { blob: 0, size, encoding: 'json' } as const
    return outcomeOf(this.run('deliverSignal', { executionId, target: MAILBOX, key, name: 'vote', source, payload }))
  }

  open(target: string): unknown {
    const { executionId, fence } = this.held
    return outcomeOf(this.run('createWaitpoint', { executionId, fence, target, keyId: 'key-1' }))
  }
}

/** The kind of a result, or the code and the limit of a refusal. */
export function outcomeOf(result: {
  readonly kind: string
  readonly code?: unknown
  readonly detail?: unknown
}): unknown {
  return result.kind === 'refused' ? [result.code, (result.detail as { readonly limit?: number }).limit] : result.kind
}
