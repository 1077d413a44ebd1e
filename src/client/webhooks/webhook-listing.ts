/** Reads webhooks, and describes them without their secrets. */
import type { Consumer } from '../../kernel/index.ts'
import { describeConsumer, readConsumers } from '../consumers/consumer-listing.ts'
import type { ConsumerSummary } from '../consumers/consumer-listing.ts'
import type { Session } from '../session.ts'

export interface WebhookSummary extends Pick<
  ConsumerSummary,
  'name' | 'namespace' | 'filter' | 'lagCount' | 'missedCount' | 'memberCount' | 'createdAt' | 'changedAt'
> {
  readonly url: string
  /** `failing`: every try since `failingSince` has failed. */
  readonly state: 'active' | 'failing' | 'disabled'
  readonly disabled: { readonly at: number; readonly by: string; readonly reason?: string | undefined } | undefined
  readonly failingSince: number | undefined
  readonly error: string | undefined
  /** How many secrets sign, and when the earlier ones stop. */
  readonly secrets: readonly { readonly createdAt: number; readonly until: number | undefined }[]
}

export async function readWebhooks(session: Session, namespace: string | undefined): Promise<Consumer[]> {
  return await readConsumers(session, { namespace, webhooks: true })
}

export async function summariseWebhook(session: Session, consumer: Consumer): Promise<WebhookSummary> {
  const { webhook } = consumer
  if (webhook === undefined) throw new TypeError('This consumer is no webhook.')
  const described = await describeConsumer(session.batcher.store, consumer)
  const { name, namespace, filter, lagCount, missedCount, memberCount, createdAt, changedAt } = described
  const { url, disabled, failingSince, error, secrets } = webhook
  const now = session.runtime.now()
  return {
    name,
    namespace,
    url,
    filter,
    state: disabled !== undefined ? 'disabled' : failingSince !== undefined ? 'failing' : 'active',
    disabled,
    failingSince,
    error,
    secrets: secrets
      .filter(({ until }) => until === undefined || until > now)
      .map((secret) => ({ createdAt: secret.createdAt, until: secret.until })),
    lagCount,
    missedCount,
    memberCount,
    createdAt,
    changedAt,
  }
}
