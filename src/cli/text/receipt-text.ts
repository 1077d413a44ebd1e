/** Describes the effect of a signal. */
import type { SignalReceipt } from '../../client/index.ts'
import type { SignalEffect } from '../../kernel/index.ts'

const effects: Readonly<Record<SignalEffect, string>> = {
  resumed: 'the wait is satisfied and the execution resumes',
  counted: 'counted; the execution waits for more',
  counted_before: 'counted before: it adds nothing',
  not_awaited: 'not counted: the execution waits for another name, or for another sender',
  buffered: 'buffered until the execution waits for it',
}

export function receiptText(id: string, name: string, { kind, sequence, effect }: SignalReceipt): string {
  const what = kind === 'duplicate' ? 'was sent before' : 'sent'
  return `${id} ${name} ${what} (signal ${sequence}): ${effects[effect]}`
}
