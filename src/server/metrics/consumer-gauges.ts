/** What a scrape reads of consumers and webhooks. */
import type { Client } from '../../client/index.ts'
import type { Counter, Gauge, Metrics, Runtime } from '../../runtime/index.ts'

type ConsumerLabel = 'kind' | 'namespace' | 'consumer'

export const consumerLagEvents: Gauge<ConsumerLabel> = {
  kind: 'gauge',
  name: 'ff_consumer_lag_events',
  help: 'Events in the log that a consumer, or a webhook, has not examined.',
  labels: ['kind', 'namespace', 'consumer'],
}

export const consumerLagSeconds: Gauge<ConsumerLabel> = {
  kind: 'gauge',
  name: 'ff_consumer_lag_seconds',
  help: 'For how long the oldest of these events has waited; 0 if none waits. Absent for a disabled webhook.',
  labels: ['kind', 'namespace', 'consumer'],
}

export const consumerMembers: Gauge<ConsumerLabel> = {
  kind: 'gauge',
  name: 'ff_consumer_members',
  help: 'Live processes of a consumer, or that deliver for a webhook.',
  labels: ['kind', 'namespace', 'consumer'],
}

export const consumerUnhandledTotal: Counter<ConsumerLabel | 'cause'> = {
  kind: 'counter',
  name: 'ff_consumer_unhandled_total',
  help: 'Events that a consumer did not handle: skipped after the last try, or missed because the log was trimmed.',
  labels: ['kind', 'namespace', 'consumer', 'cause'],
}

export const webhookDisabled: Gauge<'namespace' | 'webhook'> = {
  kind: 'gauge',
  name: 'ff_webhook_disabled',
  help: '1 if a webhook is disabled, by an operator or after its failures, else 0.',
  labels: ['namespace', 'webhook'],
}

export const webhookFailingSeconds: Gauge<'namespace' | 'webhook'> = {
  kind: 'gauge',
  name: 'ff_webhook_failing_seconds',
  help: 'For how long every delivery of a webhook has failed; 0 if the latest one succeeded.',
  labels: ['namespace', 'webhook'],
}

export async function readConsumers(client: Client, runtime: Runtime, metrics: Metrics): Promise<void> {
  const now = runtime.now()
  const secondsSince = (at: number | undefined) => (at === undefined ? 0 : Math.max(0, now - at) / 1_000)
  for (const { consumer, lagCount, waitingSince } of await client.consumerLags()) {
    const { name, namespace, webhook, members, skippedCount, missedCount } = consumer
    const labels = { kind: webhook === undefined ? 'consumer' : 'webhook', namespace, consumer: name }
    const isKnown = lagCount === 0 || waitingSince !== undefined
    metrics.set(consumerLagEvents, labels, lagCount)
    if (isKnown && webhook?.disabled === undefined) metrics.set(consumerLagSeconds, labels, secondsSince(waitingSince))
    metrics.set(consumerMembers, labels, members.length)
    metrics.add(consumerUnhandledTotal, { ...labels, cause: 'skipped' }, skippedCount)
    metrics.add(consumerUnhandledTotal, { ...labels, cause: 'missed' }, missedCount)
    if (webhook === undefined) continue
    const own = { namespace, webhook: name }
    metrics.set(webhookDisabled, own, webhook.disabled === undefined ? 0 : 1)
    metrics.set(webhookFailingSeconds, own, secondsSince(webhook.failingSince))
  }
}
