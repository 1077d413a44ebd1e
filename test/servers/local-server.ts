/**
 * What every real server on the loopback address has in common, whatever it serves: a place of its own, a life that a test
 * can stop, end and begin again, and an end that leaves nothing behind.
 */
import type { Place } from './place.ts'

/** One run of a server, from its start until its end. */
export interface RunningProcess {
  readonly pid: number
  readonly hasEnded: boolean
  /** Stops it, and what it has forked, by SIGSTOP. */
  pause(): void
  resume(): void
  /** Ends it, and what it has forked, by SIGKILL. */
  kill(): Promise<void>
  /** Ends it in the way that keeps all data. Nothing happens to one that has ended. */
  shutDown(): Promise<void>
}

export type StartResult<Process> =
  { readonly kind: 'ready'; readonly process: Process } | { readonly kind: 'port_taken' }

export abstract class LocalServer<Process extends RunningProcess> {
  readonly #place: Place
  #process: Process
  #isPaused = false

  constructor(place: Place, process: Process) {
    this.#place = place
    this.#process = process
  }

  /** Runs the server once more, where it was before. */
  protected abstract start(occupy: Place['occupy']): Promise<StartResult<Process>>

  /** Drops a connection to a process that has ended, if this object has one. */
  protected async disconnect(): Promise<void> {
    // A server that this object does not talk to has none.
  }

  /** The run that there is or was last. */
  protected get process(): Process {
    return this.#process
  }

  get port(): number {
    return this.#place.port
  }

  get folder(): string {
    return this.#place.folder
  }

  get state(): 'running' | 'paused' | 'down' {
    if (this.#process.hasEnded) return 'down'
    return this.#isPaused ? 'paused' : 'running'
  }

  /** The process that runs now, from which all others of the server come; undefined while it is down. */
  get pid(): number | undefined {
    return this.state === 'down' ? undefined : this.#process.pid
  }

  /** Pauses it at any point; its connections stay open and nothing is answered. */
  pause(): void {
    this.#process.pause()
    this.#isPaused = true
  }

  /** Resumes it after a stop. */
  resume(): void {
    this.#process.resume()
    this.#isPaused = false
  }

  /** Kills it at any point. Its port and its folder stay reserved. */
  async kill(): Promise<void> {
    await this.#process.kill()
    await this.disconnect()
  }

  /** Starts it again on its port and in its folder. If it runs, it is shut down first, in the way that keeps all data. */
  async restart(): Promise<void> {
    this.resume()
    await this.#process.shutDown()
    await this.disconnect()
    const started = await this.start(this.#place.occupy)
    if (started.kind === 'port_taken') throw new Error(`Another program has taken port ${this.port}.`)
    this.#process = started.process
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
