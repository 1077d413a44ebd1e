/** The events of one execution, which end with it. */
import type { ExecutionId, Instant, Outcome } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { Store } from '../../stores/store.ts'
import { partitionOf } from '../transport/ids.ts'
import type { LastEvent, SubscriptionItem } from './subscription.ts'

interface End {
  readonly outcome: Outcome | undefined
  readonly endedAt: Instant | undefined
}

/** Reads whether the execution has ended; undefined if it does not exist yet, or no longer. */
type Look = () => Promise<End | undefined>

/** Returns the last event of an execution that has ended: later events of its partition cannot be its own. */
export async function lastEventOf(store: Store, id: ExecutionId, look: Look): Promise<LastEvent[] | undefined> {
  if ((await look())?.outcome === undefined) return undefined
  const partition = partitionOf(id)
  const { lastSequence } = await store.readEvents(partition, Number.MAX_SAFE_INTEGER, 1)
  return [{ partition: Number(partition.slice(partition.indexOf(':') + 1)), sequence: lastSequence }]
}

/** Ends after the event of the end, unless the execution was replayed since. */
export async function* untilEnd(
  items: AsyncGenerator<SubscriptionItem, void, undefined>,
  look: Look,
): AsyncGenerator<SubscriptionItem, void, undefined> {
  for await (const item of items) {
    yield item
    if (item.kind !== 'event' || item.event.type !== 'execution_ended') continue
    const now = await look()
    if (now === undefined || (now.endedAt !== undefined && now.endedAt <= item.event.at)) return
  }
}

/** Treats a missing execution as one without a description. */
export async function unlessMissing(description: Promise<End>): Promise<End | undefined> {
  try {
    return await description
  } catch (error) {
    if (error instanceof EngineError && error.code === 'execution_not_found') return undefined
    throw error
  }
}
