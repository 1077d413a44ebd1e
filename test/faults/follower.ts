/** Follows all events of a store from its first on, whatever happens to its server, and notes which executions ended. */
import type { Fabric } from '../../src/fabric/index.ts'

export class Follower {
  readonly ended = new Set<string>()
  /** How many gaps it was notified of. */
  gapCount = 0
  readonly #abort = new AbortController()
  readonly #following: Promise<void>

  constructor(fabric: Fabric) {
    this.#following = this.#follow(fabric)
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await this.#following
  }

  async #follow(fabric: Fabric): Promise<void> {
    for await (const item of fabric.subscribe({ fromStart: true, signal: this.#abort.signal })) {
      if (item.kind !== 'event') this.gapCount += 1
      else if (item.event.type === 'execution_ended') this.ended.add(item.event.executionId)
    }
  }
}
