/** Copies a SQLite file while programs use it. The copy is one snapshot, compact and checked. */
import { chmodSync, closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Runtime } from '../../../runtime/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import { Connection } from '../connection/connection.ts'
import { failureToOpen, invalidFile } from '../connection/sqlite-error.ts'
import { retryWhileBusy } from '../connection/transactions.ts'
import { readMeta } from './file-settings.ts'

export interface FileBackup {
  readonly file: string
  readonly bytes: number
}

/** Until the copy gets the permissions of the file: others may not read what they cannot read in the file. */
const OWNER_ONLY = 0o600

/** Writes the copy to `target`, which must not exist. Other connections read and write the file meanwhile. */
export async function backupFile(runtime: Runtime, file: string, target: string): Promise<FileBackup> {
  const from = resolve(file)
  const to = resolve(target)
  refuseUnusable(to)
  const partial = `${to}.${runtime.uuid()}.partial`
  const connection = new Connection(from)
  try {
    if (!(await retryWhileBusy(runtime, () => isStore(connection)))) {
      throw new EngineError('store_not_found', { field: 'location', message: `The file ${from} is not a store yet.` })
    }
    await retryWhileBusy(runtime, () => {
      rmSync(partial, { force: true })
      closeSync(openSync(partial, 'wx', OWNER_ONLY))
      connection.prepare('vacuum into ?').run(partial)
    })
    refuseDamaged(partial)
    chmodSync(partial, statSync(from).mode)
    flush(partial)
    // Fails if another program has created the target meanwhile, unlike a rename.
    linkSync(partial, to)
    return { file: to, bytes: statSync(to).size }
  } catch (error) {
    throw failureToOpen(from, error)
  } finally {
    connection.close()
    rmSync(partial, { force: true })
  }
}

function refuseUnusable(target: string): void {
  if (existsSync(target)) throw invalidFile(`${target} exists: name a file that does not exist yet.`)
  const folder = dirname(target)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return
  throw invalidFile(`The folder ${folder} does not exist: create it, or name a file in another folder.`)
}

/** True for a store of any version: a backup precedes an upgrade. */
function isStore(connection: Connection): boolean {
  return connection.value(`select count(*) from sqlite_master where type = 'table' and name = 'meta'`) === 1
}

function refuseDamaged(copy: string): void {
  const connection = new Connection(copy)
  try {
    const verdict = connection.value('pragma integrity_check')
    if (verdict === 'ok' && readMeta(connection, 'data_version') !== undefined) return
    throw new EngineError('corruption', { message: `The copy is damaged: ${String(verdict)}. Check the disk.` })
  } finally {
    connection.close()
  }
}

function flush(file: string): void {
  const descriptor = openSync(file, 'r+')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
