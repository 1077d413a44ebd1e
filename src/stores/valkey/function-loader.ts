/** Puts the function library onto servers: when the store is opened, and again whenever a server turns out to lack it. */
import type { Redis } from 'ioredis'
import type { Log } from '../../runtime/index.ts'
import { EngineError } from '../engine-error.ts'
import type { Argument, Connection } from './connection.ts'
import type { FunctionLibrary } from './library.ts'
import { isFunctionMissing, refusalWord } from './valkey-error.ts'

/** How often one call has the library loaded anew before its caller hears of it: somebody keeps removing it. */
const LOADS_PER_CALL = 3

export class FunctionLoader {
  readonly library: FunctionLibrary
  readonly #connection: Connection
  readonly #log: Log
  readonly #mayLoad: boolean
  #loading: Promise<void> | undefined

  constructor(connection: Connection, library: FunctionLibrary, mayLoad: boolean, log: Log) {
    this.#connection = connection
    this.library = library
    this.#mayLoad = mayLoad
    this.#log = log
  }

  /** Calls one of the library's functions, with bytes in the reply. */
  async call(name: string, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    for (let loads = 0; ; loads++) {
      try {
        return await this.#connection.sendForBytes('FCALL', name, keys.length, ...keys, ...args)
      } catch (error) {
        if (!isFunctionMissing(error) || loads === LOADS_PER_CALL) throw error
        this.#log.info({ library: this.library.name }, 'a server lacks the function library; it is loaded')
        await this.load()
      }
    }
  }

  /** Loads it wherever it is missing. Those who ask at the same time share one load. */
  load(): Promise<void> {
    this.#loading ??= this.#loadEverywhere().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #loadEverywhere(): Promise<void> {
    await this.#connection.onEachPrimary((server) => this.#loadOn(server))
  }

  async #loadOn(server: Redis): Promise<void> {
    if (await this.#isOn(server)) return
    if (!this.#mayLoad) {
      throw new EngineError('invalid_configuration', {
        field: 'loadFunctions',
        message: `The function library ${this.library.name} is not on the server, and this program may not load it.`,
      })
    }
    try {
      await server.call('FUNCTION', 'LOAD', this.library.text)
    } catch (error) {
      // Another process was quicker with the same text; a server that has just lost its primary's place has it replicated.
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
