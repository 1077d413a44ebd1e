/** The events of the store as the messages of a stream. */
import type { SubscriptionItem } from '../../client/index.ts'
import type { StoredEvent } from '../../stores/store.ts'
import type { StreamMessage } from './streams.ts'

/** A message is named after the type of its event, `trimmed` where events were removed before they were read, or `log_replaced`. */
export async function* messagesOf(
  items: AsyncIterable<SubscriptionItem>,
): AsyncGenerator<StreamMessage, void, undefined> {
  for await (const item of items) yield messageOf(item)
}

function messageOf(item: SubscriptionItem): StreamMessage {
  switch (item.kind) {
    case 'event':
      return { id: item.cursor, event: item.event.type, data: eventBody(item.event) }
    case 'trimmed':
      return { id: item.cursor, event: 'trimmed', data: { missed: item.missed } }
    case 'log_replaced':
      return { id: item.cursor, event: 'log_replaced', data: { partition: item.partition } }
  }
}

/** Stored events have names and values of tags alternating. */
function eventBody({ tags, ...event }: StoredEvent) {
  const pairs = tags.flatMap((name, i) => (i % 2 === 0 ? [[name, tags[i + 1] ?? '']] : []))
  return { ...event, tags: Object.fromEntries(pairs) as Readonly<Record<string, string>> }
}
