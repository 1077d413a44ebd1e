import type { Wake } from './store.ts'

/** Listeners to wake-ups. A listener must return at once and must not throw. */
export class WakeListeners {
  readonly #listeners = new Set<(wake: Wake) => void>()

  get size(): number {
    return this.#listeners.size
  }

  add(listener: (wake: Wake) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  notify(wake: Wake): void {
    for (const listener of this.#listeners) listener(wake)
  }

  clear(): void {
    this.#listeners.clear()
  }
}
