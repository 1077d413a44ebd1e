/**
 * The rows that one chain leaves in a file store, call by call. They are taken from the engine by letting it run one chain
 * alone and looking at what each of its calls changed, so they are the right ones whatever the kernel writes.
 */
import { encodeValue } from '../../src/client/index.ts'
import { PAYLOAD_BYTES } from '../../src/kernel/index.ts'
import { systemRuntime } from '../../src/runtime/index.ts'
import { MemoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Answer, Call, Partition, PartitionDump } from '../../src/stores/store.ts'
import { Fabric } from '../../src/fabric/fabric.ts'
import type { LifeRows } from '../life-rows.ts'
import { rowsBetween, uuidsIn } from '../rows.ts'
import type { Row } from '../rows.ts'
import { chainFlow, linkHandler } from './flowfabric.ts'

export async function chainRows(length: number): Promise<LifeRows> {
  const runtime = systemRuntime()
  const store = new RecordingStore(runtime, { executionPartitions: 1, indexedTags: [] })
  await using fabric = new Fabric(store, runtime)
  await fabric.work([linkHandler], { engine: false })
  // The first chain makes its queue known; the later ones find it there.
  await runChain(fabric, length)
  store.forget()
  await runChain(fabric, length)
  return store.recorded()
}

async function runChain(fabric: Fabric, length: number): Promise<void> {
  const handle = await fabric.submit(chainFlow, { number: 0, length })
  await handle.result()
}

/** Remembers what each call wrote. What a call adds in bytes is a number here, in every payload and every result. */
class RecordingStore extends MemoryStore {
  readonly #bytes = encodeValue(0, 'value', PAYLOAD_BYTES)?.bytes ?? new Uint8Array()
  #steps: Row[][] = []
  #ids = new Set<string>()

  override async run(partition: Partition, calls: readonly Call[]): Promise<Answer[]> {
    // All three are synchronous, so that nothing is written between two of them.
    const looked = [this.dump(partition), super.run(partition, calls), this.dump(partition)] as const
    const [before, answers, after] = await Promise.all(looked)
    const rows = rowsBetween(before, after, this.#bytes)
    if (rows.length > 0) this.#steps.push(rows)
    for (const id of newIds(before, after)) this.#ids.add(id)
    return answers
  }

  forget(): void {
    this.#steps = []
    this.#ids = new Set()
  }

  recorded(): LifeRows {
    return { uuids: uuidsIn([...this.#ids]), steps: this.#steps }
  }
}

function newIds(before: PartitionDump, after: PartitionDump): string[] {
  const known = new Set(before.records.map(({ id }) => id))
  return after.records.flatMap(({ id }) => (known.has(id) ? [] : [id]))
}
