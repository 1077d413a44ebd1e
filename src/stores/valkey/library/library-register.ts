/**
 * Registers which function libraries are in use on a server, and deletes unused ones. Every version of the program loads its
 * own. A process announces its library while it is open, and one that opens a store deletes libraries without an announcement
 * for a day. Deleting one that is in use is harmless: the next call reloads it.
 */
import type { Redis } from 'ioredis'
import type { Log, Runtime, Timer } from '../../../runtime/index.ts'
import { errorFields } from '../../../runtime/index.ts'
import { Connection } from '../connection/connection.ts'
import type { ConnectionSettings } from '../options/connection-settings.ts'
import { LIBRARIES_KEY } from '../layout/keys.ts'
import { LIBRARY_PREFIX } from './library.ts'
import { asEngineError } from '../connection/valkey-error.ts'
import type { ValkeyLocation } from '../options/valkey-location.ts'

const ANNOUNCE_EVERY_MS = 4 * 3_600_000
/** Several announcements may fail before a library counts as unused. */
const FORGOTTEN_AFTER_MS = 24 * 3_600_000
/**
 * A process whose library was announced this recently may still be running: it announces every 4 hours, one announcement may
 * fail, and an hour is left for clocks and delays. A process that ends does not take its announcement back.
 */
export const MAYBE_RUNNING_MS = 2 * ANNOUNCE_EVERY_MS + 3_600_000

export interface LibraryRegisterOptions {
  /** The library of this process. */
  readonly library: string
  readonly location: ValkeyLocation
  readonly connection: Connection
  readonly connectionSettings: ConnectionSettings
  /** Whether this program may change what functions the server has. */
  readonly mayRemove: boolean
  readonly clock: 'server' | 'runtime'
  readonly runtime: Runtime
  readonly log: Log
}

export class LibraryRegister {
  readonly #options: LibraryRegisterOptions
  #timer: Timer | undefined
  /** A temporary connection to database 0, if the store is in another one. */
  #visit: Connection | undefined
  #isClosed = false

  constructor(options: LibraryRegisterOptions) {
    this.#options = options
  }

  /** Announces the library until closed, and deletes unused ones. Runs in the background. */
  start(): void {
    this.#inBackground(async (connection) => {
      await this.#announce(connection)
      if (this.#options.mayRemove) await this.#removeForgotten(connection)
    })
    this.#planNext()
  }

  /** Announces again: a server that lost the library may have lost the register too. */
  announce(): void {
    this.#inBackground((connection) => this.#announce(connection))
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
    this.#visit?.close()
  }

  #planNext(): void {
    const again = () => {
      this.announce()
      this.#planNext()
    }
    this.#timer = this.#options.runtime.after(ANNOUNCE_EVERY_MS, again, { background: true })
  }

  #inBackground(work: (connection: Connection) => Promise<void>): void {
    this.#inDatabaseZero(work).catch((failure: unknown) => {
      if (this.#isClosed) return
      const error = asEngineError(failure)
      const level = error.code === 'invalid_configuration' ? 'warn' : 'debug'
      this.#options.log[level](errorFields(error), 'could not announce the function library or delete unused ones')
    })
  }

  /** Functions belong to the whole server, so the register is in database 0 whatever the store uses. */
  async #inDatabaseZero(work: (connection: Connection) => Promise<void>): Promise<void> {
    const { location, connection, connectionSettings, runtime } = this.#options
    if (location.database === 0) {
      await work(connection)
      return
    }
    const visit = await Connection.open({ ...location, database: 0 }, connectionSettings, runtime)
    this.#visit = visit
    try {
      if (!this.#isClosed) await work(visit)
    } finally {
      visit.close()
    }
  }

  async #announce(connection: Connection): Promise<void> {
    await connection.send('HSET', LIBRARIES_KEY, this.#options.library, await this.#now(connection))
  }

  async #now(connection: Connection): Promise<number> {
    if (this.#options.clock === 'runtime') return this.#options.runtime.now()
    const [seconds] = (await connection.send('TIME')) as string[]
    return Number(seconds) * 1_000
  }

  async #removeForgotten(connection: Connection): Promise<void> {
    const now = await this.#now(connection)
    const present = new Set((await connection.onEachPrimary(librariesOn)).flat())
    const announcedAt = await announcementsOn(connection)
    for (const library of new Set([...present, ...announcedAt.keys()])) {
      if (library === this.#options.library) continue
      const at = announcedAt.get(library)
      // Another process may be loading it now, or it is older than the register: its day begins now.
      if (at === undefined) await connection.send('HSETNX', LIBRARIES_KEY, library, now)
      else if (now - at > FORGOTTEN_AFTER_MS) await this.#remove(connection, library, present.has(library))
    }
  }

  async #remove(connection: Connection, library: string, isPresent: boolean): Promise<void> {
    if (isPresent) {
      await connection.onEachPrimary((server) => removeFrom(server, library))
      this.#options.log.info({ library }, 'deleted an unused function library')
    }
    await connection.send('HDEL', LIBRARIES_KEY, library)
  }
}

/** When each library was last announced. The connection is one to database 0. */
export async function announcementsOn(connection: Connection): Promise<Map<string, number>> {
  const reply = (await connection.send('HGETALL', LIBRARIES_KEY)) as string[]
  const found = new Map<string, number>()
  for (let i = 0; i + 1 < reply.length; i += 2) found.set(String(reply[i]), Number(reply[i + 1]))
  return found
}

async function librariesOn(server: Redis): Promise<string[]> {
  const libraries = (await server.call('FUNCTION', 'LIST', 'LIBRARYNAME', `${LIBRARY_PREFIX}*`)) as unknown[][]
  return libraries.map((library) => String(library[library.indexOf('library_name') + 1]))
}

async function removeFrom(server: Redis, library: string): Promise<void> {
  try {
    await server.call('FUNCTION', 'DELETE', library)
  } catch (error) {
    // Another process has deleted it, or this server never had it.
    if (error instanceof Error && error.message.includes('not found')) return
    throw error
  }
}
