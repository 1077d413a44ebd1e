/** Opening a store takes longer than most tests do, so one test hands its store, emptied, to the next. */
import { virtualRuntime } from '../../src/runtime/index.ts'
import type { VirtualRuntime } from '../../src/runtime/index.ts'
import { afterEachFile } from '../after-file.ts'
import type { LentTarget, OpenedTarget, StoreTarget } from './store-target.ts'

interface LentStore {
  readonly tags: string
  readonly runtime: VirtualRuntime
  readonly startAt: number
  readonly target: OpenedTarget
}

/** Lends stores to the tests of one file, which run one after the other. */
export class LentStores {
  readonly #open: StoreTarget['open']
  #free: LentStore[] = []

  constructor(open: StoreTarget['open']) {
    this.#open = open
    afterEachFile(() => this.#close())
  }

  /** Its clock stands where that of a new one would. */
  async lend(indexedTags: readonly string[]): Promise<LentTarget> {
    const tags = indexedTags.join()
    const free = this.#free.find((store) => store.tags === tags)
    this.#free = this.#free.filter((store) => store !== free)
    const store = free ?? (await this.#openNew(tags, indexedTags))
    const { runtime, startAt, target } = store
    runtime.jump(startAt - runtime.now())
    return { runtime, target, giveBack: () => this.#giveBack(store) }
  }

  async #openNew(tags: string, indexedTags: readonly string[]): Promise<LentStore> {
    const runtime = virtualRuntime()
    const startAt = runtime.now()
    return { tags, runtime, startAt, target: await this.#open(runtime, indexedTags) }
  }

  async #giveBack(store: LentStore): Promise<void> {
    await store.target.clear()
    this.#free.push(store)
  }

  async #close(): Promise<void> {
    for (const { target } of this.#free) {
      await target.store.close()
      await target.remove()
    }
    this.#free = []
  }
}

/** A store that is lent where the target does that, else a new one for one test. */
export async function lendOrOpen({ lend, open }: StoreTarget, indexedTags: readonly string[]): Promise<LentTarget> {
  if (lend !== undefined) return lend(indexedTags)
  const runtime = virtualRuntime()
  const target = await open(runtime, indexedTags)
  return {
    runtime,
    target,
    giveBack: async () => {
      await target.store.close()
      await target.remove()
    },
  }
}
