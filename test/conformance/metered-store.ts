/** A store that counts what readers of the event log transfer. */
import type { Store } from '../../src/stores/store.ts'

export function metered(store: Store) {
  const meter = { events: 0, reads: 0, inFlight: 0 }
  const readEvents: Store['readEvents'] = async (...range) => {
    meter.reads += 1
    meter.inFlight += 1
    try {
      const page = await store.readEvents(...range)
      meter.events += page.events.length
      return page
    } finally {
      meter.inFlight -= 1
    }
  }
  const proxy = new Proxy(store, {
    get(target, name) {
      if (name === 'readEvents') return readEvents
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  return { meter, proxy }
}
