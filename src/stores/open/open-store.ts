/** Opens the store that a location names. */
import { existsSync } from 'node:fs'
import { INDEXED_TAG_COUNT_MAX } from '../../kernel/index.ts'
import type { Log, Runtime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { parseLocation } from './location.ts'
import { isSynchronous } from '../sqlite/file/synchronous.ts'
import type { Synchronous } from '../sqlite/file/synchronous.ts'
import type { Levels } from '../level/store-level.ts'
import { MemoryStore } from '../memory/memory-store.ts'
import { checkPostgresOptions } from '../postgres/options/postgres-options.ts'
import type { PostgresOptions } from '../postgres/options/postgres-options.ts'
import type { TokenSource } from '../remote/remote-connection.ts'
import type { Store } from '../store.ts'
import { TAG_NAME } from '../../kernel/model/tag-name.ts'
import { checkValkeyOptions } from '../valkey/options/valkey-options.ts'
import type { ValkeyOptions } from '../valkey/options/valkey-options.ts'

export type { PostgresOptions, TokenSource, ValkeyOptions }

export interface OpenStoreOptions {
  readonly runtime: Runtime
  /** Names of tags to index, fixed when the store is first used. Left out, those that it was set up with, or none. */
  readonly indexedTags?: readonly string[] | undefined
  /** For a SQLite file: whether acknowledged writes survive a power failure (`full`) or the last ones may be lost (`normal`). */
  readonly synchronous?: Synchronous | undefined
  /** For a SQLite file: how often it is polled for writes of other processes. */
  readonly watchIntervalMs?: number | undefined
  readonly valkey?: ValkeyOptions | undefined
  readonly postgres?: PostgresOptions | undefined
  /** For a FlowFabric server: the token of its requests. */
  readonly token?: TokenSource | undefined
  /** False refuses a location without a store instead of setting one up. */
  readonly create?: boolean | undefined
  /** For a store on a server: the clock in use. The server's, except in tests that move time. */
  readonly clock?: 'server' | 'runtime' | undefined
  readonly log?: Log | undefined
  /** The levels that the program can run: its own, except in tests. */
  readonly levels?: Levels | undefined
}

/**
 * Opens the store that a location names, such as `memory:`, `sqlite:./fabric.db`, `valkey://localhost:6379` or
 * `postgres://localhost/shop`.
 * Throws an `EngineError` with advice if the store does not exist, or if it was set up with other settings.
 */
export async function openStore(location: string, options: OpenStoreOptions): Promise<Store> {
  const parsed = parseLocation(location)
  const { runtime, indexedTags, synchronous, watchIntervalMs } = options
  if (indexedTags !== undefined) refuseInvalidTags(indexedTags)
  if (synchronous !== undefined) refuseInvalidSynchronous(synchronous)
  switch (parsed.kind) {
    case 'memory':
      return new MemoryStore(runtime, { executionPartitions: 1, indexedTags: indexedTags ?? [] })
    case 'sqlite': {
      if (options.create === false) refuseMissing(parsed.file)
      const { SqliteStore } = await loadSqlite(() => import('../sqlite/sqlite-store.ts'))
      return await SqliteStore.open({
        runtime,
        file: parsed.file,
        synchronous: oneOf('synchronous', parsed.synchronous, synchronous),
        indexedTags,
        watchIntervalMs,
        levels: options.levels,
        log: options.log,
      })
    }
    case 'valkey': {
      if (options.valkey !== undefined) checkValkeyOptions(options.valkey, parsed)
      const { ValkeyStore } = await import('../valkey/valkey-store.ts')
      const { loadFunctions, ...connection } = options.valkey ?? {}
      return await ValkeyStore.open({
        runtime,
        location: parsed,
        indexedTags,
        connection,
        loadFunctions,
        create: options.create,
        clock: options.clock,
        levels: options.levels,
        log: options.log,
      })
    }
    case 'postgres': {
      if (options.postgres !== undefined) checkPostgresOptions(options.postgres, parsed)
      const { PostgresStore } = await import('../postgres/postgres-store.ts')
      return await PostgresStore.open({
        runtime,
        location: parsed,
        indexedTags,
        connection: options.postgres ?? {},
        create: options.create,
        clock: options.clock,
        levels: options.levels,
        log: options.log,
      })
    }
    case 'remote': {
      const { RemoteStore } = await import('../remote/remote-store.ts')
      return await RemoteStore.open({ runtime, location: parsed, token: options.token })
    }
  }
}

function refuseMissing(file: string): void {
  if (existsSync(file)) return
  throw new EngineError('store_not_found', { field: 'location', message: `The file ${file} does not exist.` })
}

/**
 * Loaded lazily: a program loads only the kind of store that it uses, and one that never uses SQLite runs on a Node
 * without it.
 */
export async function loadSqlite<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (cause) {
    if (!isBuiltinMissing(cause)) throw cause
    const message = `A SQLite store needs Node 22.13 or later, which brings SQLite with it; this is Node ${process.versions.node}.`
    throw new EngineError('invalid_configuration', { field: 'location', message }, { cause })
  }
}

function isBuiltinMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_UNKNOWN_BUILTIN_MODULE'
}

function refuseInvalidSynchronous(value: unknown): void {
  if (isSynchronous(value)) return
  const message = `synchronous is "normal" or "full", not ${quoted(value)}.`
  throw new EngineError('invalid_configuration', { field: 'synchronous', message })
}

function refuseInvalidTags(names: unknown): void {
  if (!Array.isArray(names)) throw invalidTags(`It is a list of names such as ["plan"], not ${quoted(names)}.`)
  const invalid: unknown = names.find((name) => typeof name !== 'string' || !TAG_NAME.test(name))
  if (invalid !== undefined || names.includes(undefined)) {
    throw invalidTags(
      `${quoted(invalid)} is not the name of a tag: a small letter, then up to 63 of a-z, 0-9, "_", "." and "-".`,
    )
  }
  if (new Set(names).size > INDEXED_TAG_COUNT_MAX) {
    throw invalidTags(`At most ${INDEXED_TAG_COUNT_MAX} tags can be indexed, not ${names.length}.`)
  }
}

function invalidTags(message: string): EngineError {
  return new EngineError('invalid_configuration', { field: 'indexedTags', message })
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : `a value of type ${typeof value}`
}

/** A setting may stand in the location or in the options; if it stands in both, they must agree. */
function oneOf<T extends string>(name: string, located: T | undefined, given: T | undefined): T | undefined {
  if (located !== undefined && given !== undefined && located !== given) {
    const message = `The location has ${name} "${located}", the options have "${given}": remove one of them.`
    throw new EngineError('invalid_configuration', { field: name, message })
  }
  return located ?? given
}
