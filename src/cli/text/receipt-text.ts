/** What became of a signal, in words. */
import type { SignalReceipt } from '../../client/index.ts'
import type { SignalEffect } from '../../kernel/index.ts'

const effects: Readonly<Record<SignalEffect, string>> = {
  resumed: 'it was waited for, and the execution goes on',
  counted: 'it counts; the execution waits for more',
  counted_before: 'it adds nothing: what it stands for was counted before',
  not_awaited: 'it does not count: the execution waits for another name, or for another sender',
  buffered: 'it is kept until the execution waits for it',
}

export function receiptText(id: string, name: string, { kind, sequence, effect }: SignalReceipt): string {
  const what = kind === 'duplicate' ? 'was sent before' : 'sent'
  return `${id} ${name} ${what} (signal ${sequence}): ${effects[effect]}`
}
