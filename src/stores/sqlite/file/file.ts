/** Opens the connections to a file, sets it up if needed, and verifies its settings. */
import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Runtime } from '../../../runtime/index.ts'
import type { Synchronous } from './synchronous.ts'
import type { StoreSettings } from '../../store.ts'
import { Connection } from '../connection/connection.ts'
import { needsSetup, readMeta, setUp, verifiedSettings } from './file-settings.ts'
import type { WantedSettings } from './file-settings.ts'
import { failureToOpen, invalidFile } from '../connection/sqlite-error.ts'
import { Transactions, retryWhileBusy } from '../connection/transactions.ts'

export const MEMORY_FILE = ':memory:'

/** A larger cache makes every commit slower, since SQLite walks through it. */
const CACHE_KIB = 8_192

/** Pages in the write-ahead log, of 4 KiB each, after which a commit moves them into the file. */
const CHECKPOINT_PAGES = 4_000

/** Size to which the write-ahead log is truncated after a burst. */
const LOG_BYTES_KEPT = 67_108_864

export interface OpenFile {
  readonly path: string
  readonly writer: Connection
  /** Equal to the writer if only one connection can see the data. */
  readonly reader: Connection
  readonly settings: StoreSettings
  /** What the settings held when the file was opened. */
  readonly level: unknown
}

export async function openFile(
  runtime: Runtime,
  file: string,
  synchronous: Synchronous,
  wanted: WantedSettings,
): Promise<OpenFile> {
  const path = file === MEMORY_FILE ? file : resolve(file)
  const connections: Connection[] = []
  const connect = () => {
    const connection = new Connection(path)
    connections.push(connection)
    return connection
  }
  try {
    if (path !== MEMORY_FILE) refuseImpossiblePath(path)
    const writer = connect()
    const mustBeSetUp = await retryWhileBusy(runtime, () => needsSetup(writer, path))
    await retryWhileBusy(runtime, () => configureWriter(writer, path, synchronous))
    if (mustBeSetUp) await new Transactions(runtime, writer, 'write').run(() => setUp(writer, path, wanted))
    const settings = await retryWhileBusy(runtime, () => verifiedSettings(writer, path, wanted))
    const level = await retryWhileBusy(runtime, () => readMeta(writer, 'level'))
    const reader = path === MEMORY_FILE ? writer : connect()
    if (reader !== writer) await retryWhileBusy(runtime, () => configureReader(reader))
    return { path, writer, reader, settings, level }
  } catch (error) {
    for (const connection of connections) connection.close()
    throw failureToOpen(path, error)
  }
}

/**
 * Checks the path without opening the file: closing a file drops every lock that the process holds on it, also those of
 * a store that has it open.
 */
function refuseImpossiblePath(path: string): void {
  const folder = dirname(path)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw invalidFile(`The folder of ${path} does not exist: create ${folder}, or correct the path.`)
  }
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory() === true)
    throw invalidFile(`${path} is a folder: name a file in it, such as ${path}/fabric.db.`)
  if (found !== undefined && !found.isFile()) throw invalidFile(`${path} is not an ordinary file: name another one.`)
}

function configureWriter(writer: Connection, path: string, synchronous: Synchronous): void {
  const mode = writer.value('pragma journal_mode = wal')
  if (mode !== 'wal' && path !== MEMORY_FILE) {
    throw invalidFile(`${path} lies on a disk where SQLite has no write-ahead log: name a file on a local disk.`)
  }
  writer.execute(`pragma synchronous = ${synchronous}`)
  // Needed on macOS, where fsync stops at the cache of the drive.
  if (synchronous === 'full') writer.execute('pragma fullfsync = 1')
  writer.execute(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
  writer.execute(`pragma journal_size_limit = ${LOG_BYTES_KEPT}`)
  writer.execute(`pragma cache_size = -${CACHE_KIB}`)
  writer.execute('pragma temp_store = memory')
}

function configureReader(reader: Connection): void {
  reader.execute('pragma query_only = 1')
  reader.execute('pragma temp_store = memory')
  // Reads the file once, so that an error is thrown by opening the store.
  reader.value('select count(*) from meta')
}
