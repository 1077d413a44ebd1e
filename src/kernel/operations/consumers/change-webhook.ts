/**
 * Changes a webhook: a consumer of events whose events are sent to a URL. A delivery that fails is noted, and disables the webhook
 * once every try has failed for too long.
 */
import { CONSUMER_ERROR_LENGTH, WEBHOOK_SECRET_MAX } from '../../limits.ts'
import type { Consumer, EventFilter, SealedSecret, Webhook } from '../../model/consumer-schema.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'
import type { NewConsumer } from './renew-consumer.ts'

export type NewSecret = Pick<SealedSecret, 'keyId' | 'sealed'>

export type WebhookChange =
  | {
      readonly kind: 'define'
      readonly url: string
      readonly filter: EventFilter
      readonly disableAfterMs: number
      /** For a new webhook. An existing one keeps its secrets and its position. */
      readonly create: NewConsumer & { readonly secret: NewSecret }
    }
  /** The new secret signs at once. Earlier ones sign beside it for the grace. */
  | { readonly kind: 'rotate'; readonly secret: NewSecret; readonly graceMs: number }
  /** The same secret, encrypted with another key. */
  | { readonly kind: 'reseal'; readonly sealed: string; readonly secret: NewSecret }
  | { readonly kind: 'disable'; readonly by: string; readonly reason?: string | undefined }
  | { readonly kind: 'enable' }
  | { readonly kind: 'delivered' }
  /** `isGone`: the receiver wants no further events. */
  | { readonly kind: 'failed'; readonly error: string; readonly isGone: boolean }

export interface ChangeWebhookInput {
  readonly consumerId: string
  readonly change: WebhookChange
}

export type ChangeWebhookResult =
  | { readonly kind: 'webhook_created' | 'webhook_changed' | 'webhook_unchanged'; readonly consumer: Consumer }
  | Refused<'webhook_not_found'>

/** Who disables a webhook after its failures. */
const ENGINE = 'engine'

export function changeWebhook(tx: Tx, { consumerId, change }: ChangeWebhookInput): ChangeWebhookResult {
  const found = tx.get('consumer', consumerId)
  if (found?.webhook === undefined) {
    if (change.kind !== 'define') return refused('webhook_not_found', { name: consumerId })
    const consumer = newWebhook(tx, consumerId, change)
    tx.put(consumer)
    return { kind: 'webhook_created', consumer }
  }
  const changed = afterChange(tx, found, found.webhook, change)
  if (changed === undefined) return { kind: 'webhook_unchanged', consumer: found }
  const consumer = { ...changed, changedAt: tx.now }
  tx.put(consumer)
  return { kind: 'webhook_changed', consumer }
}

type Definition = Extract<WebhookChange, { readonly kind: 'define' }>

function newWebhook(tx: Tx, id: string, { url, filter, disableAfterMs, create }: Definition): Consumer {
  return {
    type: 'consumer',
    id,
    namespace: create.namespace,
    name: create.name,
    filter,
    revision: 1,
    members: [],
    shares: create.positions.map(({ position, mark }) => ({ position, mark, owner: undefined })),
    handledCount: 0,
    skippedCount: 0,
    missedCount: 0,
    failure: undefined,
    createdAt: tx.now,
    changedAt: tx.now,
    webhook: {
      url,
      secrets: [{ ...create.secret, createdAt: tx.now, until: undefined }],
      disableAfterMs,
      disabled: undefined,
      failingSince: undefined,
      error: undefined,
    },
  }
}

/** Returns undefined if nothing changes. */
function afterChange(tx: Tx, consumer: Consumer, webhook: Webhook, change: WebhookChange): Consumer | undefined {
  switch (change.kind) {
    case 'define': {
      const { url, filter, disableAfterMs } = change
      const isSameFilter = sameFilter(consumer.filter, filter)
      if (isSameFilter && webhook.url === url && webhook.disableAfterMs === disableAfterMs) return undefined
      // Processes that send for it continue with the new filter.
      const revision = isSameFilter ? consumer.revision : consumer.revision + 1
      return { ...consumer, filter, revision, webhook: { ...webhook, url, disableAfterMs } }
    }
    case 'rotate':
      // A repeated call carries the same text.
      if (webhook.secrets[0]?.sealed === change.secret.sealed) return undefined
      return { ...consumer, webhook: { ...webhook, secrets: rotated(tx, webhook.secrets, change) } }
    case 'reseal': {
      if (!webhook.secrets.some(({ sealed }) => sealed === change.sealed)) return undefined
      const secrets = webhook.secrets.map((one) => (one.sealed === change.sealed ? { ...one, ...change.secret } : one))
      return { ...consumer, webhook: { ...webhook, secrets } }
    }
    case 'disable':
      if (webhook.disabled !== undefined) return undefined
      return { ...consumer, webhook: { ...webhook, disabled: { at: tx.now, by: change.by, reason: change.reason } } }
    case 'enable':
      if (webhook.disabled === undefined) return undefined
      return { ...consumer, webhook: { ...webhook, disabled: undefined, failingSince: undefined, error: undefined } }
    case 'delivered':
      if (webhook.failingSince === undefined) return undefined
      return { ...consumer, webhook: { ...webhook, failingSince: undefined, error: undefined } }
    case 'failed': {
      const failed = afterFailure(tx, webhook, change.error, change.isGone)
      // While a receiver is down, failures of the same kind write nothing.
      const isSame = failed.error === webhook.error && failed.disabled === webhook.disabled
      return isSame ? undefined : { ...consumer, webhook: failed }
    }
  }
}

function rotated(
  tx: Tx,
  secrets: readonly SealedSecret[],
  { secret, graceMs }: Extract<WebhookChange, { readonly kind: 'rotate' }>,
): SealedSecret[] {
  const until = tx.now + graceMs
  const earlier = secrets
    .filter((one) => (one.until ?? until) > tx.now)
    .map((one) => ({ ...one, until: Math.min(one.until ?? until, until) }))
  return [{ ...secret, createdAt: tx.now, until: undefined }, ...earlier].slice(0, WEBHOOK_SECRET_MAX)
}

function afterFailure(tx: Tx, webhook: Webhook, error: string, isGone: boolean): Webhook {
  const failingSince = webhook.failingSince ?? tx.now
  const failed = { ...webhook, failingSince, error: error.substring(0, CONSUMER_ERROR_LENGTH) }
  if (webhook.disabled !== undefined) return failed
  if (!isGone && tx.now - failingSince < webhook.disableAfterMs) return failed
  const reason = isGone ? 'the receiver answered 410 Gone' : 'all deliveries failed for too long'
  return { ...failed, disabled: { at: tx.now, by: ENGINE, reason } }
}

function sameFilter(a: EventFilter, b: EventFilter): boolean {
  return (
    a.namespace === b.namespace &&
    a.task === b.task &&
    a.lane === b.lane &&
    a.tag?.name === b.tag?.name &&
    a.tag?.value === b.tag?.value &&
    a.storeWide === b.storeWide &&
    sameTypes(a.types, b.types)
  )
}

function sameTypes(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return a.length === b.length && a.every((type, i) => type === b[i])
}
