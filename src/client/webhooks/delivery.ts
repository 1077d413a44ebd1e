/** A delivery of a webhook: one event as a request. It is an execution, so that it is stored, retried, listed and replayed as any other. */
import type { StoredEvent } from '../../stores/store.ts'
import { task } from '../define/task.ts'

/** Deliveries are not delivered. */
export const DELIVERY_TASK = 'flowfabric.webhook'
export const DELIVERY_LANE = 'flowfabric.webhooks'
/** The tag of a delivery with the name of its webhook. */
export const WEBHOOK_TAG = 'webhook'

export interface DeliveryInput {
  readonly webhook: string
  /** The id of the message: the same for each try, and for a delivery that is repeated by hand. */
  readonly eventId: string
  /** What is signed and sent. */
  readonly body: string
  /** When its webhook was made: a later one of the same name may have another receiver. Earlier versions left it out. */
  readonly madeAt?: number | undefined
}

/** Its tries extend over about a day. */
export const delivery = task<DeliveryInput, { readonly status: number }>(DELIVERY_TASK, {
  lane: DELIVERY_LANE,
  retry: { attempts: 12, backoff: { kind: 'exponential', initial: '5s', factor: 3, max: '6h' } },
  timeout: { attempt: '1m' },
  retention: '7d',
  fairness: ({ webhook }) => webhook,
})

/** Returns the body of the request. Its form is that of Standard Webhooks: type, timestamp and data. */
export function bodyOf(event: StoredEvent): string {
  const { tags: alternating, type, at, ...rest } = event
  const tags: Record<string, string> = {}
  for (let i = 0; i < alternating.length; i += 2) tags[alternating[i] ?? ''] = alternating[i + 1] ?? ''
  return JSON.stringify({ type, timestamp: new Date(at).toISOString(), data: { ...rest, tags } })
}
