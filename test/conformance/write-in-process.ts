/** Writes past all operations into a store that runs the kernel in the process: as an operation that only tests know. */
import { operations, plans } from '../../src/kernel/index.ts'
import type { Tx } from '../../src/kernel/index.ts'
import type { Call, Partition, Store } from '../../src/stores/store.ts'

const NAME = 'writeForTest'

/** Such stores look operations up by name. */
Object.assign(operations, {
  [NAME]: (tx: Tx, { write }: { readonly write: (tx: Tx) => void }) => {
    write(tx)
    return { kind: 'written' }
  },
})
Object.assign(plans, { [NAME]: () => undefined })

export async function writeInProcess(store: Store, partition: Partition, write: (tx: Tx) => void): Promise<void> {
  const call = { operation: NAME, input: { write }, blobs: [] }
  const [answer] = await store.run(partition, [call as unknown as Call])
  if (answer?.kind !== 'answered') throw new Error(`The test's own write was answered with ${JSON.stringify(answer)}.`)
}
