/**
 * A real server on the loopback address, in a folder of its own, for as long as a test or a benchmark needs it. It can be
 * killed, stopped in the middle of what it does, and started again on what it has kept. Its end is also the end of its
 * folder, and it does not outlive the process that started it.
 */
import type { Redis } from 'ioredis'
import { connectTo } from './connection.ts'
import type { ServerAddress } from './connection.ts'
import { LazyConnection } from './lazy-connection.ts'
import { LocalServer } from './local-server.ts'
import type { StartResult } from './local-server.ts'
import { startInPlace } from './place.ts'
import type { Place } from './place.ts'
import { startProcess } from './server-process.ts'
import type { ServerProcess } from './server-process.ts'
import { planServer } from './server-settings.ts'
import type { ServerOptions, ServerPlan } from './server-settings.ts'
import { alignShards } from './shards.ts'

/** An argument of a command; bytes for what is not text. */
export type CommandPart = string | number | Buffer

export class Server extends LocalServer<ServerProcess> {
  /** The port on which the members of a cluster talk to each other, if this is one. */
  readonly busPort: number
  readonly #plan: ServerPlan
  readonly #connection: LazyConnection<Redis>

  constructor(plan: ServerPlan, place: Place, process: ServerProcess) {
    super(place, process)
    this.busPort = place.busPort
    this.#plan = plan
    this.#connection = new LazyConnection(async (forget) => (await connectTo(plan.address)).once('end', forget))
  }

  /** What a client needs to know to connect. */
  get address(): ServerAddress {
    return this.#plan.address
  }

  /** The address in the form in which a program names its store. */
  get location(): string {
    const { host, port, username = '', password, certificate } = this.address
    const plainScheme = this.#plan.program === 'redis-server' ? 'redis' : 'valkey'
    const scheme = certificate === undefined ? plainScheme : 'valkeys'
    const access = password === undefined ? '' : `${encodeURIComponent(username)}:${encodeURIComponent(password)}@`
    return `${scheme}://${access}${host}:${port}`
  }

  /** The last lines that it wrote, also after its end. */
  get log(): string {
    return this.process.log
  }

  /** Has the server do a command, over a connection that is opened when it is first needed. */
  async call(command: string, ...parts: readonly CommandPart[]): Promise<unknown> {
    return (await this.#connection.get()).call(command, ...parts)
  }

  /** The same, with texts of the reply as the bytes that they are. */
  async callForBytes(command: string, ...parts: readonly CommandPart[]): Promise<unknown> {
    return (await this.#connection.get()).callBuffer(command, ...parts)
  }

  protected async start(occupy: Place['occupy']): Promise<StartResult<ServerProcess>> {
    await alignShards(this.folder)
    return await startProcess(this.#plan, occupy)
  }

  protected override async disconnect(): Promise<void> {
    const connection = await this.#connection.release()
    connection?.disconnect()
  }
}

/** A member of a cluster has to know its second port before it starts, so the options may depend on the place. */
export async function startServerIn(optionsFor: (place: Place) => ServerOptions): Promise<Server> {
  return startInPlace(async (place) => {
    const plan = await planServer(place, optionsFor(place))
    const started = await startProcess(plan, place.occupy)
    return started.kind === 'ready' ? new Server(plan, place, started.process) : undefined
  })
}

/** Starts a server and waits until it accepts connections. Who starts it stops it. */
export function startServer(options: ServerOptions = {}): Promise<Server> {
  return startServerIn(() => options)
}
