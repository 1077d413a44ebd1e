import type { Client, SubscribeOptions, SubscriptionItem } from '../../client/index.ts'

/** Handles events one by one until the signal aborts. Returns the cursor after the last handled item. */
export async function followEvents(
  client: Client,
  options: SubscribeOptions & { readonly signal: AbortSignal },
  onItem: (item: SubscriptionItem) => Promise<void>,
): Promise<string | undefined> {
  let { cursor } = options
  for await (const item of client.subscribe(options)) {
    await onItem(item)
    cursor = item.cursor
  }
  return cursor
}
