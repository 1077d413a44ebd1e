/** Webhooks and their deliveries as text. */
import type { Delivery, WebhookSummary } from '../../client/index.ts'
import { filterText } from './consumer-text.ts'
import type { Output } from './output.ts'
import { firstLine, printable } from './printable.ts'
import { table } from './table.ts'
import { isoTime } from './time-text.ts'

/** The column NAMESPACE is present if they differ. */
export function webhooksText(items: readonly WebhookSummary[], output: Output): string {
  const hasNamespaces = new Set(items.map(({ namespace }) => namespace)).size > 1
  const names = ['NAME', 'STATE', 'URL', 'LAG', 'MISSED', 'FILTER']
  if (hasNamespaces) names.push('NAMESPACE')
  const rows = items.map((item) => [
    item.name,
    item.state,
    printable(item.url),
    String(item.lagCount),
    String(item.missedCount),
    filterText(item),
    ...(hasNamespaces ? [item.namespace] : []),
  ])
  return table([names.map((name) => output.style('dim', name)), ...rows], { alignRight: [3, 4] })
}

export function webhookText(webhook: WebhookSummary): string {
  const { disabled, failingSince, error, secrets } = webhook
  const rows: (readonly [string, string | undefined])[] = [
    ['webhook', webhook.name],
    ['state', webhook.state],
    ['url', webhook.url],
    ['filter', filterText(webhook)],
    ['lag', `${webhook.lagCount} events`],
    ['missed', String(webhook.missedCount)],
    ['processes', String(webhook.memberCount)],
    ['failing since', failingSince === undefined ? undefined : isoTime(failingSince)],
    ['error', error && firstLine(error)],
    ['disabled', disabled && `${isoTime(disabled.at)} by ${disabled.by}: ${disabled.reason ?? 'no reason given'}`],
    ['secrets', secrets.map(({ createdAt, until }) => secretText(createdAt, until)).join(', ')],
  ]
  return table(rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, printable(value)]])))
}

function secretText(createdAt: number, until: number | undefined): string {
  return until === undefined ? `made ${isoTime(createdAt)}` : `made ${isoTime(createdAt)}, until ${isoTime(until)}`
}

export function deliveriesText(items: readonly Delivery[], output: Output): string {
  const names = ['DELIVERY', 'EVENT', 'STATE', 'TRY', 'CREATED', 'NEXT TRY', 'ERROR']
  const rows = items.map((item) => [
    item.id,
    item.eventType,
    item.state,
    String(item.attempt),
    isoTime(item.createdAt),
    item.retryAt === undefined ? '' : isoTime(item.retryAt),
    item.error === undefined ? '' : firstLine(item.error),
  ])
  return table([names.map((name) => output.style('dim', name)), ...rows], { alignRight: [3] })
}
