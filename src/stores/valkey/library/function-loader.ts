/** Loads the function library on servers: when the store is opened, and again whenever a server lacks it. */
import type { Redis } from 'ioredis'
import type { Log } from '../../../runtime/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import type { FunctionCall } from '../wire/call-writer.ts'
import type { Argument, Connection } from '../connection/connection.ts'
import type { FunctionLibrary } from './library.ts'
import { isFunctionMissing, refusalWord } from '../connection/valkey-error.ts'

/** How often one call reloads the library before it fails: another client keeps deleting it. */
const LOADS_PER_CALL = 3

export class FunctionLoader {
  readonly library: FunctionLibrary
  readonly #connection: Connection
  readonly #log: Log
  readonly #mayLoad: boolean
  #loading: Promise<void> | undefined
  #onReloaded: () => Promise<void> = async () => undefined

  constructor(connection: Connection, library: FunctionLibrary, mayLoad: boolean, log: Log) {
    this.#connection = connection
    this.library = library
    this.#mayLoad = mayLoad
    this.#log = log
  }

  /** Sets what runs after a reload, before calls resume. A server that lost the library may have lost everything. */
  onReloaded(work: () => Promise<void>): void {
    this.#onReloaded = work
  }

  /** Sends an encoded call. The reply has bytes. */
  async send(call: FunctionCall): Promise<unknown> {
    return await this.#withLibrary(() => this.#connection.sendCall(call))
  }

  /** Sends an encoded call after its read of values, in one write. */
  async sendBehindRead(call: FunctionCall): Promise<[reply: unknown, values: unknown]> {
    return await this.#withLibrary(() => this.#connection.sendCallBehindRead(call))
  }

  /** Calls one of the library's functions, with bytes in the reply. */
  async call(name: string, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    return await this.#withLibrary(() => this.#connection.sendForBytes('FCALL', name, keys.length, ...keys, ...args))
  }

  /** Calls a function that takes no keys on each server that accepts writes. */
  async callOnEachPrimary(name: string, args: readonly Argument[]): Promise<unknown[]> {
    return await this.#withLibrary(() =>
      this.#connection.onEachPrimary((server) => server.callBuffer('FCALL', name, 0, ...args)),
    )
  }

  /** Loads it wherever it is missing. */
  async load(): Promise<void> {
    await this.#connection.onEachPrimary((server) => this.#loadOn(server))
  }

  async #withLibrary<T>(call: () => Promise<T>): Promise<T> {
    for (let loads = 0; ; loads++) {
      try {
        return await call()
      } catch (error) {
        if (!isFunctionMissing(error) || loads === LOADS_PER_CALL) throw error
        this.#log.info({ library: this.library.name }, 'the server lacks the function library; loading it')
        await this.#reload()
      }
    }
  }

  /** Concurrent calls share one load. */
  #reload(): Promise<void> {
    this.#loading ??= this.load()
      .then(this.#onReloaded)
      .finally(() => {
        this.#loading = undefined
      })
    return this.#loading
  }

  async #loadOn(server: Redis): Promise<void> {
    if (await this.#isOn(server)) return
    if (!this.#mayLoad) {
      throw new EngineError('invalid_configuration', {
        field: 'loadFunctions',
        message:
          `The function library ${this.library.name} is not on the server, and this program may not load it. ` +
          'Open the store once as a user who may, with the same version: "flowfabric doctor", or "flowfabric dev" for a new store.',
      })
    }
    try {
      await server.call('FUNCTION', 'LOAD', this.library.text)
    } catch (error) {
      // Another process has loaded the same text first; a demoted primary gets it by replication.
      if (error instanceof Error && error.message.includes('already exists')) return
      if (refusalWord(error) === 'READONLY') return
      throw error
    }
  }

  async #isOn(server: Redis): Promise<boolean> {
    const found = await server.call('FUNCTION', 'LIST', 'LIBRARYNAME', this.library.name)
    return Array.isArray(found) && found.length > 0
  }
}
