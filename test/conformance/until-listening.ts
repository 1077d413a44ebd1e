import { allPartitions } from '../../src/stores/partitions.ts'
import type { Partition, Store } from '../../src/stores/store.ts'

/** The first wake-up of a partition proves that the listener is ready; from then on a test receives only its own. */
export async function untilListening(store: Store): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const partitions = new Set<Partition>()
  const stop = store.onWake(({ partition }) => {
    if (partitions.add(partition).size === allPartitions(store.settings).length) resolve(undefined)
  })
  await promise
  stop()
}
