/** Webhooks as operators and programs manage them. A secret is shown once, when it is made. */
import { publicStates, webhookId } from '../../kernel/index.ts'
import type { Consumer, ExecutionId, PublicState, WebhookChange } from '../../kernel/index.ts'
import { boolean, oneOf, required, shape } from '../../options/shape.ts'
import { STORE_PARTITION } from '../../stores/partitions.ts'
import { FABRIC_PREFIX, checkPrincipal, checkReason, invalidInput } from '../checks/names.ts'
import { checkConsumerName } from '../consumers/consumer-options.ts'
import { parseDuration } from '../define/duration.ts'
import type { Duration } from '../define/duration.ts'
import { filterChecks, scopedFilter } from '../events/event-filter.ts'
import type { EventFilterOptions } from '../events/event-filter.ts'
import { logStarts } from '../events/log-start.ts'
import { replayExecution } from '../executions/execution-calls.ts'
import type { ExecutionSummary } from '../executions/description.ts'
import { listExecutions } from '../lists/listing.ts'
import { pageOptions } from '../lists/merged-pages.ts'
import type { Page, PageOptions } from '../lists/merged-pages.ts'
import type { Session } from '../session.ts'
import { unwrap } from '../transport/unwrap.ts'
import { DELIVERY_LANE, DELIVERY_TASK, WEBHOOK_TAG } from './delivery.ts'
import { readWebhooks, summariseWebhook } from './webhook-listing.ts'
import type { WebhookSummary } from './webhook-listing.ts'
import { mintSecret } from './webhook-secret.ts'
import { checkTarget } from './webhook-url.ts'

export interface WebhookOptions extends EventFilterOptions {
  /** Where events are sent: https, and a public host. */
  readonly url: string
  /** For how long every try may fail before the webhook is disabled; 3 days unless given. */
  readonly disableAfter?: Duration
  /** Accepts http and private hosts, for tests. Those who deliver must allow it too. */
  readonly allowPrivate?: boolean
}

export interface DefinedWebhook extends WebhookSummary {
  /** With what the receiver verifies. Only of a new webhook, and never shown again. */
  readonly secret: string | undefined
}

export interface RotateWebhookOptions {
  /** For how long earlier secrets sign beside the new one; a day unless given. */
  readonly grace?: Duration
}

export interface HoldWebhookOptions {
  readonly by?: string
  readonly reason?: string
}

export interface ListDeliveriesOptions extends PageOptions {
  readonly state?: PublicState
}

/** One event that is sent to a webhook. */
export interface Delivery {
  readonly id: ExecutionId
  /** The header `webhook-id`. */
  readonly eventId: string
  readonly eventType: string
  readonly state: PublicState
  readonly attempt: number
  readonly createdAt: number
  readonly endedAt: number | undefined
  /** When it is tried again. */
  readonly retryAt: number | undefined
  /** Why the latest try failed. */
  readonly error: string | undefined
}

const DISABLE_AFTER_DEFAULT = '3d'
const DISABLE_AFTER_MIN_MS = 1_000
const GRACE_DEFAULT = '1d'
const WEBHOOK_MAX = 100
const CLIENT = 'client'
/** What the name and the id of an event follow in the key of a delivery. */
const KEY_WORD = `${FABRIC_PREFIX}webhook`

const webhookOptions = shape<WebhookOptions>()("{ url: 'https://example.com/hooks' }", {
  ...filterChecks,
  url: required((value) => value),
  disableAfter: (value, field) => parseDuration(value, field, DISABLE_AFTER_MIN_MS),
  allowPrivate: boolean,
})
const rotateOptions = shape<RotateWebhookOptions>()("{ grace: '1h' }", { grace: parseDuration })
const holdOptions = shape<HoldWebhookOptions>()("{ reason: 'maintenance' }", {
  by: checkPrincipal,
  reason: checkReason,
})
const deliveryOptions = shape<ListDeliveriesOptions>()("{ state: 'failed' }", {
  ...pageOptions.checks,
  state: oneOf(publicStates),
})

/** Returns the key of the delivery of an event, so that an event is delivered once however often it is read. */
export function deliveryKey(webhook: string, eventId: string): string {
  return `${KEY_WORD}:${webhook}:${eventId}`
}

export class WebhookCalls {
  readonly #session: () => Session

  /** `session` throws once the client is closed. */
  constructor(session: () => Session) {
    this.#session = session
  }

  /**
   * Defines a webhook: the events that match are sent to the URL, from now on. Idempotent. With another URL or filter, changes the
   * webhook, which keeps its secret and its position.
   *
   * @example
   * const { secret } = await fabric.webhooks.define('crm', { url: 'https://crm.example.com/hooks', types: ['execution_ended'] })
   */
  async define(name: string, options: WebhookOptions): Promise<DefinedWebhook> {
    const session = this.#session()
    checkConsumerName(name)
    const { url, disableAfter, allowPrivate = false, ...filter } = webhookOptions(options)
    const wanted = scopedFilter(session, filter)
    const id = webhookId(session.namespace, name)
    const target = checkTarget(url, allowPrivate)
    const others = await readWebhooks(session, session.namespace)
    if (others.length >= WEBHOOK_MAX && others.every((other) => other.id !== id)) {
      throw invalidInput('name', `There are ${others.length} webhooks, and at most ${WEBHOOK_MAX} are allowed.`)
    }
    const { text, stored } = mintSecret(session.tokens, id)
    const starts = await logStarts(session.batcher.store, {})
    const positions = starts.map(({ position: { sequence, mark } }) => ({ position: sequence, mark }))
    const { kind, consumer } = await this.#change(name, {
      kind: 'define',
      url: target,
      filter: wanted,
      disableAfterMs: disableAfter ?? parseDuration(DISABLE_AFTER_DEFAULT, 'disableAfter'),
      create: { namespace: session.namespace, name, positions, secret: stored },
    })
    // A call that is repeated after a lost reply finds the secret that it stored before.
    const isNew = kind === 'webhook_created' || consumer.webhook?.secrets[0]?.sealed === stored.sealed
    return { ...(await summariseWebhook(session, consumer)), secret: isNew ? text : undefined }
  }

  /** Lists the webhooks by name. */
  async list(): Promise<WebhookSummary[]> {
    const session = this.#session()
    const found = await readWebhooks(session, session.within)
    return await Promise.all(found.map((consumer) => summariseWebhook(session, consumer)))
  }

  async describe(name: string): Promise<WebhookSummary> {
    const session = this.#session()
    const consumerId = this.#idOf(name)
    const { result } = await session.runIn(STORE_PARTITION, 'describeConsumer', { consumerId })
    if (result.kind === 'refused') return unwrap({ ...result, code: 'webhook_not_found' as const })
    return await summariseWebhook(session, result.consumer)
  }

  /** Makes a new secret and returns it. Earlier ones sign beside it for the grace, so receivers can change over. */
  async rotate(name: string, options: RotateWebhookOptions = {}): Promise<{ readonly secret: string }> {
    const session = this.#session()
    const { grace = parseDuration(GRACE_DEFAULT, 'grace') } = rotateOptions(options)
    const { text, stored } = mintSecret(session.tokens, this.#idOf(name))
    await this.#change(name, { kind: 'rotate', secret: stored, graceMs: grace })
    return { secret: text }
  }

  /** Stops deliveries: those that come up fail. After some seconds events wait in the log, for as long as it keeps them. */
  async disable(name: string, options: HoldWebhookOptions = {}): Promise<WebhookSummary> {
    const { by = CLIENT, reason } = holdOptions(options)
    const { consumer } = await this.#change(name, { kind: 'disable', by, reason })
    return await summariseWebhook(this.#session(), consumer)
  }

  /** Resumes deliveries after the last event that was passed on. Those that failed are redelivered one by one. */
  async enable(name: string): Promise<WebhookSummary> {
    const { consumer } = await this.#change(name, { kind: 'enable' })
    return await summariseWebhook(this.#session(), consumer)
  }

  /** Deletes it with its secrets and its position. Its deliveries stay listed for their retention. */
  async delete(name: string): Promise<void> {
    const consumerId = this.#idOf(name)
    const { result } = await this.#session().runIn(STORE_PARTITION, 'deleteConsumer', { consumerId })
    if (result.kind === 'refused') unwrap({ ...result, code: 'webhook_not_found' as const })
  }

  /** Lists deliveries, newest first. They are kept for a week after their end. */
  async deliveries(name: string, options: ListDeliveriesOptions = {}): Promise<Page<Delivery>> {
    const session = this.#session()
    const tag = { name: WEBHOOK_TAG, value: checkConsumerName(name) }
    const namespace = session.namespace
    const query = { ...deliveryOptions(options), lane: DELIVERY_LANE, task: DELIVERY_TASK, tag, namespace }
    const { items, cursor } = await listExecutions(session, query)
    return { items: items.map(deliveryOf), cursor }
  }

  /** Delivers an event again whose delivery has ended, with the same id and body. */
  async redeliver(name: string, deliveryId: string, { by = CLIENT }: { readonly by?: string } = {}): Promise<void> {
    const session = this.#session()
    const id = session.resolve(deliveryId)
    const { result } = await session.run(id, 'describeExecution', { executionId: id })
    const { execution } = unwrap(result)
    const isOfWebhook = execution.tags.some((tag) => tag.name === WEBHOOK_TAG && tag.value === name)
    const isDelivery = execution.task === DELIVERY_TASK && isOfWebhook
    if (!isDelivery) throw invalidInput('id', `${deliveryId} is no delivery of the webhook ${name}.`)
    unwrap(await replayExecution(session, id, { by, reason: 'redelivery' }))
  }

  async #change(name: string, change: WebhookChange) {
    const input = { consumerId: this.#idOf(name), change }
    return unwrap((await this.#session().runIn(STORE_PARTITION, 'changeWebhook', input)).result)
  }

  #idOf(name: string): string {
    return webhookId(this.#session().namespace, checkConsumerName(name))
  }
}

/** Applies a change that those who deliver make. */
export async function changeWebhook(
  session: Session,
  id: string,
  change: WebhookChange,
): Promise<Consumer | undefined> {
  const { result } = await session.runIn(STORE_PARTITION, 'changeWebhook', { consumerId: id, change })
  return result.kind === 'refused' ? undefined : result.consumer
}

function deliveryOf(execution: ExecutionSummary): Delivery {
  const { id, key = '', tags, state, attempt, createdAt, endedAt, delayedUntil, failure } = execution
  return {
    id,
    eventId: key.slice(key.lastIndexOf(':') + 1),
    eventType: tags['event'] ?? '',
    state,
    attempt,
    createdAt,
    endedAt,
    retryAt: delayedUntil,
    error: failure?.message,
  }
}
