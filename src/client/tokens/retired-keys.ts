/**
 * The ids of retired keys, which the store keeps. A fresh process has no earlier ring to compare its ring with, so without them
 * it would accept an old copy of the key file. Secrets are never stored.
 */
import type { Store } from '../../stores/store.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { KeyRing } from './key-ring.ts'

export class RetiredKeys {
  readonly #store: Pick<Store, 'recordFacts' | 'findFacts'>

  constructor(store: Pick<Store, 'recordFacts' | 'findFacts'>) {
    this.#store = store
  }

  /** Records the retired ids of a ring. Throws `invalid_keys` if the store knows one of its keys as retired. */
  async compare(ring: KeyRing): Promise<void> {
    const ids = ring.keys.map(({ id }) => id)
    const known = await this.#store.findFacts('retired_key', [...ids, ...ring.retired])
    const returned = ids.find((id) => known.includes(id))
    if (returned !== undefined) {
      const message = `In the key ring, the key ${returned} was retired and cannot come back: the store knows it as retired. Use the current file.`
      throw new EngineError('invalid_keys', { field: 'keys', message })
    }
    const unknown = ring.retired.filter((id) => !known.includes(id))
    if (unknown.length > 0) await this.#store.recordFacts('retired_key', unknown)
  }
}
