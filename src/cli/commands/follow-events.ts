/** Events until the signal aborts, each dealt with before the next. */
import type { Client, SubscribeOptions, SubscriptionItem } from '../../client/index.ts'

/** Answers the cursor behind the last item that was dealt with. */
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
