/** The wake-ups of the store for remote clients. What a client does not take in time is replaced by wake-ups without details. */
import { parseClass, queueOfIndex } from '../../kernel/index.ts'
import { logPartitions } from '../../stores/partitions.ts'
import type { Store, Wake } from '../../stores/store.ts'
import type { StreamMessage } from '../live/streams.ts'

/** Wake-ups that wait for a client at most. */
const PENDING_MAX = 1_000

export interface WakeScope {
  /** The only namespace of the client. Ids of other ones are withheld, so the client looks by itself. */
  readonly namespace: string | undefined
  /** Whether the client follows logs of events. */
  readonly withEvents: boolean
}

export async function* wakeMessages(
  store: Store,
  scope: WakeScope,
  signal: AbortSignal,
): AsyncGenerator<StreamMessage, void, undefined> {
  let pending: Wake[] = []
  let notify: () => void = () => undefined
  const push = (wake: Wake): void => {
    const visible = visibleTo(wake, scope)
    if (visible === undefined) return
    pending.push(visible)
    if (pending.length > PENDING_MAX) pending = withoutDetails(pending)
    notify()
  }
  const stops = [store.onWake(push)]
  if (scope.withEvents) {
    for (const partition of logPartitions(store.settings)) stops.push(store.onWake(push, { eventsOf: partition }))
  }
  const wakeUp = (): void => notify()
  signal.addEventListener('abort', wakeUp, { once: true })
  try {
    for (let number = 1; !signal.aborted; number++) {
      if (pending.length === 0) {
        await new Promise<void>((resolve) => (notify = resolve))
        continue
      }
      const wakes = pending
      pending = []
      yield { id: String(number), event: 'wakes', data: { wakes } }
    }
  } finally {
    signal.removeEventListener('abort', wakeUp)
    for (const stop of stops) stop()
  }
}

/** Returns what a client may know of a wake-up. Without the details, listeners assume that anything may have changed. */
function visibleTo(wake: Wake, { namespace, withEvents }: WakeScope): Wake | undefined {
  if (namespace === undefined) return withEvents ? wake : { ...wake, growth: undefined }
  const { partition, dueAt, hasEvents } = wake
  const ready = wake.ready?.filter((index) => parseClass(queueOfIndex(index).class).namespace === namespace)
  return { partition, dueAt, hasEvents, ready }
}

function withoutDetails(pending: readonly Wake[]): Wake[] {
  const partitions = new Set(pending.map(({ partition }) => partition))
  return [...partitions].map((partition) => ({ partition, hasEvents: true }))
}
