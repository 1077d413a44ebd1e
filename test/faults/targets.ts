/** Servers for one test, which may disconnect every client of them and remove every function. */
import { startServer } from '../servers/server.ts'
import type { Server } from '../servers/server.ts'
import { startCluster } from '../servers/start-cluster.ts'

export type TargetName = 'valkey' | 'redis' | 'cluster'

/** Loaded ahead of the program of a process, it gives stores on Valkey conflicts that nothing caused. */
export const unsteadyStores = new URL('./unsteady-stores.ts', import.meta.url)

export class Target implements AsyncDisposable {
  readonly location: string
  readonly #primaries: readonly Server[]
  readonly #stop: () => Promise<void>

  private constructor(location: string, primaries: readonly Server[], stop: () => Promise<void>) {
    this.location = location
    this.#primaries = primaries
    this.#stop = stop
  }

  static async start(name: TargetName): Promise<Target> {
    if (name !== 'cluster') {
      const server = await startServer({ program: `${name}-server` })
      return new Target(server.location, [server], () => server.stop())
    }
    const cluster = await startCluster()
    return new Target(cluster.location, await cluster.primaries(), () => cluster.stop())
  }

  /** Runs a command on the server, or on every primary of the cluster. */
  async callEach(command: string, ...parts: readonly string[]): Promise<unknown[]> {
    return await Promise.all(this.#primaries.map((server) => server.call(command, ...parts)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop()
  }
}
