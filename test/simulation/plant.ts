/** A fault that is planted on purpose, to see whether the simulator finds it. */
import type { MemoryStore } from '../../src/stores/memory/memory-store.ts'
import type { WorkerOptions } from '../../src/worker/index.ts'

export interface Plant {
  readonly name: string
  /** What is wrong, as a sentence. */
  readonly mistake: string
  /** Changes the code itself; answers how to put it right again. */
  readonly plant?: () => () => void
  readonly changeStore?: (store: MemoryStore) => void
  readonly workerOptions?: Partial<WorkerOptions>
}
