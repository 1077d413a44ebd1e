/**
 * A process of the benchmark beside the main one, which asks it to do things over the channel that Node opens between them.
 * The process ends when it is disposed of, and also when the main process ends in whatever way.
 */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Asked, AskedFor, Duties, Reply, Request } from './duties.ts'

/** How long a process may take to end by itself, for example to write a profile, before it is killed. */
const END_LIMIT_MS = 5_000

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

export class Child<D extends Duties> implements AsyncDisposable {
  readonly #process: ChildProcess
  readonly #ended: Promise<unknown>
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0

  constructor(program: URL) {
    // Standard output is for the report alone.
    this.#process = fork(program, { stdio: ['ignore', process.stderr, process.stderr, 'ipc'] })
    this.#ended = once(this.#process, 'exit')
    this.#process.on('message', (reply: Reply) => this.#take(reply))
    this.#process.on('error', (error) => this.#rejectAll(error))
    this.#process.on('exit', (code, signal) => {
      this.#rejectAll(new Error(`A process of the benchmark ended with ${signal ?? `exit code ${code ?? 'unknown'}`}.`))
    })
  }

  /** Resolves with what the process answers. Rejects if the duty throws, or if the process ends first. */
  async ask<N extends keyof D & string>(name: N, input: AskedFor<D, N>): Promise<Asked<D, N>> {
    const id = ++this.#lastId
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#waiting.set(id, { resolve, reject })
    const request: Request = { id, name, input }
    this.#process.send(request, (error) => {
      if (error !== null) this.#waitingFor(id)?.reject(error)
    })
    return (await promise) as Asked<D, N>
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.connected) this.#process.disconnect()
    const limit = setTimeout(() => this.#process.kill('SIGKILL'), END_LIMIT_MS)
    if (this.#process.exitCode === null && this.#process.signalCode === null) await this.#ended
    clearTimeout(limit)
  }

  #take(reply: Reply): void {
    const waiting = this.#waitingFor(reply.id)
    if (reply.kind === 'done') waiting?.resolve(reply.value)
    else waiting?.reject(new Error(reply.message))
  }

  #waitingFor(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    return waiting
  }

  #rejectAll(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}
