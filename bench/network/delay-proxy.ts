/** A loopback proxy in front of a server that adds a delay each way, in a process of its own. */
import { Child } from '../processes/child.ts'
import type { RelayCounts, RelayTarget } from './delay-relay.ts'
import type { RelayDuties } from './relay-process.ts'

export class DelayProxy implements AsyncDisposable {
  readonly port: number
  readonly #child: Child<RelayDuties>

  private constructor(port: number, child: Child<RelayDuties>) {
    this.port = port
    this.#child = child
  }

  static async start(target: RelayTarget): Promise<DelayProxy> {
    const child = new Child<RelayDuties>(new URL('./relay-process.ts', import.meta.url))
    try {
      return new DelayProxy(await child.ask('open', target), child)
    } catch (error) {
      await child[Symbol.asyncDispose]()
      throw error
    }
  }

  /** What has passed since the start. */
  counts(): Promise<RelayCounts> {
    return this.#child.ask('counts', null)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child[Symbol.asyncDispose]()
  }
}
