/** Formats an event as one line: time, type, execution or flow, and details. */
import type { EventDetail } from '../../kernel/index.ts'
import type { SubscriptionItem } from '../../client/index.ts'
import type { StoredEvent } from '../../stores/store.ts'
import { firstLine } from './printable.ts'
import type { Output, Style } from './output.ts'
import { isoTime } from './time-text.ts'

const TYPE_WIDTH = 19

const details: readonly { readonly name: string; readonly text: (event: EventDetail) => string | undefined }[] = [
  { name: 'attempt', text: (event) => event.attempt?.toString() },
  { name: 'worker', text: (event) => event.workerId },
  { name: 'step', text: (event) => event.step },
  { name: 'waitpoint', text: (event) => event.waitpoint },
  { name: 'signal', text: (event) => event.signal },
  { name: 'effect', text: (event) => event.effect },
  { name: 'outcome', text: (event) => event.outcome },
  { name: 'percent', text: (event) => event.percent?.toString() },
  { name: 'priority', text: (event) => event.priority?.toString() },
  { name: 'until', text: (event) => (event.until === undefined ? undefined : isoTime(event.until)) },
  { name: 'category', text: (event) => event.category },
  { name: 'by', text: (event) => event.by },
  { name: 'reason', text: (event) => (event.reason === undefined ? undefined : JSON.stringify(event.reason)) },
]

export function subscriptionText(item: SubscriptionItem, output: Output): string {
  if (item.kind === 'event') return eventText(item.event, output)
  if (item.kind === 'log_replaced') {
    return output.style('yellow', 'the event log was replaced; continuing with the first event that it keeps')
  }
  return output.style('yellow', `${item.missed} events were trimmed before they could be read`)
}

function eventText(event: StoredEvent, output: Output): string {
  const parts = [
    output.style('dim', isoTime(event.at)),
    output.style(styleOf(event), event.type.padEnd(TYPE_WIDTH)),
    event.executionId,
    event.task,
  ]
  for (const { name, text } of details) {
    const value = text(event)
    if (value !== undefined) parts.push(`${name}=${firstLine(value)}`)
  }
  return parts.join(' ')
}

function styleOf(event: StoredEvent): Style {
  switch (event.type) {
    case 'attempt_failed':
    case 'lease_expired':
    case 'lease_revoked':
      return 'red'
    case 'execution_ended':
    case 'flow_ended':
      return event.outcome === 'completed' ? 'green' : 'red'
    case 'cancel_requested':
    case 'flow_cancelled':
      return 'yellow'
    default:
      return 'cyan'
  }
}
