/**
 * A real server on the loopback address, in a folder of its own, for as long as a test or a benchmark needs it. It can be
 * killed, stopped in the middle of what it does, and started again on what it has kept. Its end is also the end of its
 * folder, and it does not outlive the process that started it.
 */
import type { Redis } from 'ioredis'
import { connectTo } from './connection.ts'
import type { ServerAddress } from './connection.ts'
import { takePlace } from './place.ts'
import type { Place } from './place.ts'
import { startProcess } from './server-process.ts'
import type { ServerProcess } from './server-process.ts'
import { planServer } from './server-settings.ts'
import type { ServerOptions, ServerPlan } from './server-settings.ts'
import { until } from './until.ts'

/** Other programs of the machine may have the ports that a server is given; it is started again on others. */
const START_TRIES = 20
const SHUT_DOWN_LIMIT_MS = 20_000

/** An argument of a command; bytes for what is not text. */
export type CommandPart = string | number | Buffer

export class Server {
  readonly #plan: ServerPlan
  readonly #place: Place
  #process: ServerProcess
  #isPaused = false
  #connection: Promise<Redis> | undefined

  constructor(plan: ServerPlan, place: Place, process: ServerProcess) {
    this.#plan = plan
    this.#place = place
    this.#process = process
  }

  /** What a client needs to know to connect. */
  get address(): ServerAddress {
    return this.#plan.address
  }

  get port(): number {
    return this.#place.port
  }

  /** The port on which the members of a cluster talk to each other, if this is one. */
  get busPort(): number {
    return this.#place.busPort
  }

  get folder(): string {
    return this.#place.folder
  }

  /** The address in the form in which a program names its store. */
  get location(): string {
    const { host, port, username = '', password, certificate } = this.address
    const plainScheme = this.#plan.program === 'redis-server' ? 'redis' : 'valkey'
    const scheme = certificate === undefined ? plainScheme : 'valkeys'
    const access = password === undefined ? '' : `${encodeURIComponent(username)}:${encodeURIComponent(password)}@`
    return `${scheme}://${access}${host}:${port}`
  }

  get state(): 'running' | 'paused' | 'down' {
    if (this.#process.hasEnded) return 'down'
    return this.#isPaused ? 'paused' : 'running'
  }

  /** The process that runs now; undefined while the server is down. */
  get pid(): number | undefined {
    return this.state === 'down' ? undefined : this.#process.pid
  }

  /** The last lines that it wrote, also after its end. */
  get log(): string {
    return this.#process.log
  }

  /** Has the server do a command, over a connection that is opened when it is first needed. */
  async call(command: string, ...parts: readonly CommandPart[]): Promise<unknown> {
    return (await this.#connected()).call(command, ...parts)
  }

  /** The same, with texts of the reply as the bytes that they are. */
  async callForBytes(command: string, ...parts: readonly CommandPart[]): Promise<unknown> {
    return (await this.#connected()).callBuffer(command, ...parts)
  }

  #connected(): Promise<Redis> {
    if (this.#connection !== undefined) return this.#connection
    const connection = connectTo(this.address)
    const forget = (): void => {
      if (this.#connection === connection) this.#connection = undefined
    }
    this.#connection = connection
    connection.then((opened) => opened.once('end', forget), forget)
    return connection
  }

  async #disconnect(): Promise<void> {
    const connection = await this.#connection?.catch(() => undefined)
    connection?.disconnect()
    this.#connection = undefined
  }

  /** Stops it in the middle of whatever it does; its connections stay open and nothing is answered. */
  pause(): void {
    this.#process.signal('SIGSTOP')
    this.#isPaused = true
  }

  /** Lets it go on as if nothing had happened. */
  resume(): void {
    this.#process.signal('SIGCONT')
    this.#isPaused = false
  }

  /** Ends it in the middle of whatever it does. Its port and its folder stay reserved. */
  async kill(): Promise<void> {
    await this.#process.kill()
    await this.#disconnect()
  }

  /** Starts it again on its port and in its folder. If it runs, it is shut down first, in the way that keeps all data. */
  async restart(): Promise<void> {
    await this.#shutDown()
    const { program, args } = this.#plan
    const started = await startProcess(program, args, this.#place.occupy)
    if (started.kind === 'port_taken') throw new Error(`Another program has taken port ${this.port}.`)
    this.#process = started.process
    this.#isPaused = false
  }

  async #shutDown(): Promise<void> {
    if (this.state === 'down') return
    this.resume()
    this.#process.signal('SIGTERM')
    const hasEnded = async (): Promise<true | undefined> => this.#process.hasEnded || undefined
    await until('the server shuts down', SHUT_DOWN_LIMIT_MS, hasEnded)
    await this.#disconnect()
  }

  /** Ends it for good and removes what it has kept. */
  async stop(): Promise<void> {
    await this.kill()
    await this.#place.leave()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}

/** A member of a cluster has to know its second port before it starts, so the options may depend on the place. */
export async function startServerIn(optionsFor: (place: Place) => ServerOptions): Promise<Server> {
  for (let tries = 0; tries < START_TRIES; tries++) {
    const place = await takePlace()
    try {
      const plan = await planServer(place, optionsFor(place))
      const started = await startProcess(plan.program, plan.args, place.occupy)
      if (started.kind === 'ready') return new Server(plan, place, started.process)
    } catch (error) {
      await place.leave()
      throw error
    }
    await place.leave()
  }
  throw new Error(`In ${START_TRIES} tries no port was found that a server could use.`)
}

/** Starts a server and waits until it accepts connections. Who starts it stops it. */
export function startServer(options: ServerOptions = {}): Promise<Server> {
  return startServerIn(() => options)
}
