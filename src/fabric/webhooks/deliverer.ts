/**
 * Delivers webhooks: for each event that a webhook wants, it submits a delivery, and a worker sends the deliveries. Any number of
 * processes may do so; they share the log as the processes of a consumer do.
 */
import { Consumer } from '../../client/consumers/consumer.ts'
import { PermanentError, RetryAfterError } from '../../client/define/errors.ts'
import type { Handler } from '../../client/define/task.ts'
import type { Session } from '../../client/session.ts'
import { DELIVERY_TASK, WEBHOOK_TAG, bodyOf, delivery } from '../../client/webhooks/delivery.ts'
import type { DeliveryInput } from '../../client/webhooks/delivery.ts'
import { changeWebhook, deliveryKey } from '../../client/webhooks/webhook-calls.ts'
import { readWebhooks } from '../../client/webhooks/webhook-listing.ts'
import { openSecrets, resealSecret, signatureOf, signingSecrets } from '../../client/webhooks/webhook-secret.ts'
import { checkTarget } from '../../client/webhooks/webhook-url.ts'
import type { Client } from '../../client/client.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { webhookId } from '../../kernel/index.ts'
import type { Consumer as WebhookRecord, WebhookChange } from '../../kernel/index.ts'
import { errorFields, sleep } from '../../runtime/index.ts'
import type { Log } from '../../runtime/index.ts'
import { ADMISSION_LEVEL, levelTooLow } from '../../stores/level/store-level.ts'
import { STORE_PARTITION } from '../../stores/partitions.ts'
import type { Worker } from '../../worker/worker.ts'
import type { Post, PostAnswer } from './post.ts'

/** What a deliverer needs of its fabric. */
export interface DelivererParts {
  readonly session: Session
  readonly log: Log
  readonly post: Post
  readonly allowPrivate: boolean
  /** Whether it does nothing while there are no webhooks or keys. Otherwise its worker starts at once. */
  readonly isIdleWithout?: boolean
  /** Whether this process looks for the first webhook on behalf of the others, which look seldom then. It does unless given. */
  readonly looksForAll?: () => boolean
  readonly forNamespace: (namespace: string) => Pick<Client, 'submit'>
  readonly work: (handler: Handler) => Promise<Worker>
  /** How soon a new webhook, another filter or an enable is noticed; 5 s unless given. */
  readonly lookEveryMs?: number
}

const LOOK_EVERY_MS = 5_000
/** How often a process that delivers nothing yet checks whether another one still looks for all. */
const SPARE_CHECK_EVERY_MS = 60_000
/** How often it looks by itself meanwhile, if it has a key ring: the process that looks for all may have none. */
const SPARE_LOOK_EVERY_MS = 180_000
/** Submits of one partition at the same time. */
const CONCURRENCY = 8
const RETRY_AFTER_MAX_SECONDS = 3_600
const GONE = 410

interface Running {
  readonly filter: string
  readonly consumer: Consumer
}

export class WebhookDeliverer implements AsyncDisposable {
  /** Resolves once it has stopped. */
  readonly closed: Promise<void>
  readonly #parts: DelivererParts
  readonly #closing = new AbortController()
  readonly #running = new Map<string, Running>()
  #known = new Map<string, WebhookRecord>()
  /** When this process last delivered something for a webhook. */
  readonly #deliveredAt = new Map<string, number>()
  #worker: Worker | undefined
  /** When this process last asked for webhooks, by the monotonic clock. */
  #lookedAt = -Infinity
  #hasWarned = false

  constructor(parts: DelivererParts) {
    this.#parts = parts
    this.closed = this.#run()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #run(): Promise<void> {
    const { session, log } = this.#parts
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        if (await this.#mayLook()) {
          this.#worker ??= await this.#parts.work(this.#handler())
          await this.#look()
        }
      } catch (error) {
        log.warn(errorFields(error), 'could not look for webhooks; trying again')
      }
      await sleep(session.runtime, this.#lookAgainMs(), signal)
    }
    await Promise.all([...this.#running.values()].map(({ consumer }) => consumer.close()))
    await this.#worker?.close()
  }

  #lookAgainMs(): number {
    return this.#isSpare() ? SPARE_CHECK_EVERY_MS : (this.#parts.lookEveryMs ?? LOOK_EVERY_MS)
  }

  /** Whether this process delivers nothing yet, and another one looks for the first webhook. */
  #isSpare(): boolean {
    const { isIdleWithout = false, looksForAll } = this.#parts
    return isIdleWithout && this.#worker === undefined && looksForAll?.() === false
  }

  /** Whether the look is left to another process. One without a key ring cannot deliver, so it leaves all looks. */
  #leavesLook(): boolean {
    const { runtime, tokens } = this.#parts.session
    if (!this.#isSpare()) return false
    return runtime.monotonic() - this.#lookedAt < SPARE_LOOK_EVERY_MS || tokens.keyId === undefined
  }

  async #mayLook(): Promise<boolean> {
    const { session, log, isIdleWithout = false } = this.#parts
    if (!isIdleWithout || this.#worker !== undefined) return true
    if (this.#leavesLook()) return false
    if (levelTooLow(session.batcher.store, ADMISSION_LEVEL, 'webhooks') !== undefined) return false
    if ((await this.#find()).length === 0) return false
    if (session.tokens.keyId !== undefined) return true
    if (!this.#hasWarned)
      log.warn({}, 'the store has webhooks, and this process does not deliver them: it has no key ring')
    this.#hasWarned = true
    return false
  }

  /** Returns all webhooks; none once it closes, because a close must not wait for a store that does not answer. */
  async #find(): Promise<readonly WebhookRecord[]> {
    const { session } = this.#parts
    const { signal } = this.#closing
    const { promise: closing, resolve } = Promise.withResolvers<readonly WebhookRecord[]>()
    const end = () => resolve([])
    this.#lookedAt = session.runtime.monotonic()
    signal.addEventListener('abort', end, { once: true })
    try {
      return await Promise.race([closing, readWebhooks(session, session.within)])
    } finally {
      signal.removeEventListener('abort', end)
    }
  }

  /** Starts and stops consumers, so that they are those of the webhooks that are not disabled. */
  async #look(): Promise<void> {
    const found = await this.#find()
    this.#known = new Map(found.map((record) => [record.id, record]))
    for (const id of this.#deliveredAt.keys()) if (!this.#known.has(id)) this.#deliveredAt.delete(id)
    for (const [id, { consumer, filter }] of [...this.#running]) {
      const record = this.#known.get(id)
      if (record?.webhook?.disabled === undefined && record !== undefined && filter === filterText(record)) continue
      this.#running.delete(id)
      await consumer.close()
    }
    for (const record of found) {
      if (this.#closing.signal.aborted) return
      await this.#reseal(record)
      await this.#clearFailure(record)
      if (record.webhook?.disabled !== undefined || this.#running.has(record.id)) continue
      const consumer = await this.#consume(record)
      this.#running.set(record.id, { filter: filterText(record), consumer })
      void consumer.closed.then(() => {
        if (this.#running.get(record.id)?.consumer === consumer) this.#running.delete(record.id)
      })
    }
  }

  async #consume({ id, name, namespace, filter, revision, createdAt }: WebhookRecord): Promise<Consumer> {
    const { session, log, forNamespace } = this.#parts
    const source = { id, name, filter, revision, exceptTask: DELIVERY_TASK }
    const client = forNamespace(namespace)
    const consumer = new Consumer(
      session,
      log,
      source,
      async (event, { eventId }) => {
        const input: DeliveryInput = { webhook: name, eventId, body: bodyOf(event), madeAt: createdAt }
        const tags = { [WEBHOOK_TAG]: name, event: event.type }
        await client.submit(delivery, input, { id: deliveryKey(name, eventId), ifExists: 'join', tags })
      },
      { concurrency: CONCURRENCY },
    )
    // While the store is unavailable, a consumer does not start: a close must not wait for it.
    const { signal } = this.#closing
    const stop = () => void consumer.close()
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    try {
      return await consumer.start()
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  /** Secrets follow the key ring, so that a key can be retired once no secret needs it. */
  async #reseal({ id, webhook }: WebhookRecord): Promise<void> {
    const { session, log } = this.#parts
    const { tokens } = session
    for (const secret of signingSecrets(webhook?.secrets ?? [], session.runtime.now())) {
      if (tokens.keyId === undefined || secret.keyId === tokens.keyId) continue
      try {
        const change = { kind: 'reseal', sealed: secret.sealed, secret: resealSecret(tokens, id, secret) } as const
        const resealed = await changeWebhook(session, id, change)
        if (resealed !== undefined) this.#known.set(id, resealed)
      } catch (error) {
        log.error(
          { webhook: id, ...errorFields(error) },
          'could not encrypt a secret of a webhook with the current key',
        )
      }
    }
  }

  /** Another process may have stored a failure that this one did not know of when it delivered. */
  async #clearFailure({ id, webhook }: WebhookRecord): Promise<void> {
    const deliveredAt = this.#deliveredAt.get(id)
    if (deliveredAt === undefined || webhook?.failingSince === undefined || webhook.disabled !== undefined) return
    if (deliveredAt > webhook.failingSince) await this.#note(id, { kind: 'delivered' })
  }

  #handler(): Handler {
    return delivery.handle(async ({ webhook: name, eventId, body, madeAt }, { namespace, signal }) => {
      const id = webhookId(namespace, name)
      const record = await this.#recordOf(id)
      const webhook = record?.webhook
      const isAnother = madeAt !== undefined && madeAt !== record?.createdAt
      if (webhook === undefined || isAnother) throw new PermanentError('The webhook was deleted.')
      if (webhook.disabled !== undefined) {
        this.#stopConsuming(id)
        throw new PermanentError('The webhook is disabled.')
      }
      const { session, post, allowPrivate } = this.#parts
      const now = session.runtime.now()
      const seconds = Math.floor(now / 1_000)
      const secrets = openSecrets(session.tokens, id, signingSecrets(webhook.secrets, now))
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'FlowFabric',
        'webhook-id': eventId,
        'webhook-timestamp': String(seconds),
        'webhook-signature': signatureOf(secrets, eventId, seconds, body),
      }
      let answer: PostAnswer
      try {
        const { runtime } = session
        answer = await post({
          url: checkTarget(webhook.url, allowPrivate),
          headers,
          body,
          allowPrivate,
          signal,
          runtime,
        })
      } catch (error) {
        // The worker stops: this is no failure of the receiver.
        if (signal.aborted) throw error
        const text = error instanceof EngineError ? error.message : `The request failed: ${String(error)}`
        const isDisabled = await this.#note(id, { kind: 'failed', error: text, isGone: false })
        throw isDisabled ? new PermanentError(text, { cause: error }) : new Error(text, { cause: error })
      }
      return await this.#settle(id, answer)
    })
  }

  async #settle(id: string, { status, retryAfterSeconds }: PostAnswer) {
    if (status >= 200 && status < 300) {
      this.#deliveredAt.set(id, this.#parts.session.runtime.now())
      if (this.#known.get(id)?.webhook?.failingSince !== undefined) await this.#note(id, { kind: 'delivered' })
      return { status }
    }
    const error = `The receiver answered with status ${status}.`
    const isDisabled = await this.#note(id, { kind: 'failed', error, isGone: status === GONE })
    if (isDisabled) throw new PermanentError(error)
    if (retryAfterSeconds === undefined) throw new Error(error)
    throw new RetryAfterError(1_000 * Math.min(retryAfterSeconds, RETRY_AFTER_MAX_SECONDS), error)
  }

  /** Stores how a try ended. Resolves with whether the webhook is disabled. */
  async #note(id: string, change: WebhookChange): Promise<boolean> {
    const { session, log } = this.#parts
    const before = this.#known.get(id)
    const record = await changeWebhook(session, id, change)
    if (record === undefined) return false
    this.#known.set(id, record)
    const { webhook, name } = record
    if (webhook?.disabled === undefined) return false
    this.#stopConsuming(id)
    if (before?.webhook?.disabled !== undefined) return true
    log.error(
      { webhook: name, reason: webhook.disabled.reason },
      'a webhook was disabled after failures; enable it once its receiver works again',
    )
    return true
  }

  /** Further events wait in the log. The next look would stop the consumer too. */
  #stopConsuming(id: string): void {
    void this.#running.get(id)?.consumer.close()
  }

  /** Reads the webhook for each delivery, so that a new secret, another URL or a disable applies to the next one. */
  async #recordOf(consumerId: string): Promise<WebhookRecord | undefined> {
    const { result } = await this.#parts.session.runIn(STORE_PARTITION, 'describeConsumer', { consumerId })
    if (result.kind === 'refused') return undefined
    this.#known.set(consumerId, result.consumer)
    return result.consumer
  }
}

function filterText({ filter }: WebhookRecord): string {
  return JSON.stringify(filter)
}
