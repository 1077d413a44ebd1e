/** The servers of the suite, as a store names them and as those see them who look after them. */
import type { Redis } from 'ioredis'
import { connectTo } from '../servers/connection.ts'
import { serverLocations } from '../servers/server-locations.ts'

export type TargetName = 'valkey' | 'redis' | 'cluster'

export class Target implements Disposable {
  readonly location: string
  readonly #servers: readonly Redis[]

  private constructor(location: string, servers: readonly Redis[]) {
    this.location = location
    this.#servers = servers
  }

  /** A store of its own on a server, or on the primaries of the cluster. */
  static async open(name: TargetName, prefix: string): Promise<Target> {
    const location = serverLocations()?.[name] ?? ''
    const addresses = /:\/\/(.*)$/.exec(location)?.[1]?.split(',') ?? []
    const servers = await Promise.all(addresses.map(connect))
    return new Target(`${location}?prefix=${prefix}`, servers)
  }

  /** Has every server do a command. */
  async callEach(command: string, ...parts: readonly string[]): Promise<unknown[]> {
    return await Promise.all(this.#servers.map((server) => server.call(command, ...parts)))
  }

  [Symbol.dispose](): void {
    for (const server of this.#servers) server.disconnect()
  }
}

async function connect(address: string): Promise<Redis> {
  const [host = '', port] = address.split(':')
  const anybody = { username: undefined, password: undefined, certificate: undefined }
  return await connectTo({ host, port: Number(port), ...anybody })
}
