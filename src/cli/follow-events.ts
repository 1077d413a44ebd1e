/** Events until the signal aborts, across moments in which the store cannot be read. */
import type { Client, SubscribeOptions, SubscriptionItem } from '../client/index.ts'
import { sleep } from '../runtime/index.ts'
import { EngineError } from '../stores/engine-error.ts'
import { defined } from './defined.ts'

/** How long to pause after the store failed. */
const RETRY_AFTER_FAILURE_MS = 1_000

export interface Follower {
  readonly onItem: (item: SubscriptionItem) => Promise<void>
  /** The store failed in a way that may pass; reading goes on where it stopped. */
  readonly onTrouble: (error: EngineError) => void
}

/** Answers the cursor behind the last item that was dealt with. */
export async function followEvents(
  client: Client,
  options: SubscribeOptions & { readonly signal: AbortSignal },
  follower: Follower,
): Promise<string | undefined> {
  let { cursor } = options
  while (!options.signal.aborted) {
    try {
      for await (const item of client.subscribe({ ...options, ...defined({ cursor }) })) {
        await follower.onItem(item)
        cursor = item.cursor
      }
    } catch (error) {
      if (!(error instanceof EngineError) || !error.isRetryable) throw error
      follower.onTrouble(error)
      await sleep(client.runtime, RETRY_AFTER_FAILURE_MS, options.signal)
    }
  }
  return cursor
}
