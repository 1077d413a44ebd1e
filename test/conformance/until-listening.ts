import type { Partition, Store } from '../../src/stores/store.ts'

/** The first wake-up of a partition says that it is listened to; from then on a test hears only of what it does itself. */
export async function untilListening(store: Store): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const partitions = new Set<Partition>()
  const stop = store.onWake(({ partition }) => {
    if (partitions.add(partition).size === store.settings.executionPartitions) resolve(undefined)
  })
  await promise
  stop()
}
