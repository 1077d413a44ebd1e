/** Reads what a file holds from its schema, and compares it with what the migrations make in a database in memory. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { compareCatalogues } from '../../drift/compare-catalogues.ts'
import type { CatalogueEntry, TableDifference } from '../../drift/compare-catalogues.ts'
import type { Runtime } from '../../../runtime/index.ts'
import { Connection } from '../connection/connection.ts'
import { failureInUse } from '../connection/sqlite-error.ts'
import { retryWhileBusy } from '../connection/transactions.ts'
import { findVersion } from './file-settings.ts'
import { migrations } from './migrations.ts'

export interface FileComparison {
  readonly version: number
  readonly differences: readonly TableDifference[]
}

/** Compares with the steps that the file has run. Undefined for a file that does not exist or is empty. Writes nothing. */
export async function compareFile(file: string, runtime: Runtime): Promise<FileComparison | undefined> {
  const path = resolve(file)
  if (!existsSync(path)) return undefined
  const [connection, scratch] = [new Connection(path), new Connection(':memory:')]
  try {
    const { version, found } = await retryWhileBusy(runtime, () =>
      atOnce(connection, () => ({ version: findVersion(connection, path), found: catalogueOf(connection) })),
    )
    if (version === 0) return undefined
    for (const step of migrations.slice(0, version)) scratch.execute(step)
    return { version, differences: compareCatalogues(catalogueOf(scratch), found) }
  } catch (error) {
    throw failureInUse(path, error)
  } finally {
    connection.close()
    scratch.close()
  }
}

/** Reads in one transaction. */
function atOnce<T>(connection: Connection, read: () => T): T {
  connection.execute('begin')
  try {
    return read()
  } finally {
    connection.execute('rollback')
  }
}

function catalogueOf(connection: Connection): CatalogueEntry[] {
  const objects = connection
    .prepare(
      `select type, name, tbl_name, sql from sqlite_schema where name not like 'sqlite\\_%' escape '\\' order by type, name`,
    )
    .all()
  return objects.flatMap(({ type, name, tbl_name: table, sql }): CatalogueEntry[] => {
    const object = String(type) as 'table' | 'view' | 'index' | 'trigger'
    const entry = { object, table: String(table), name: String(name), definition: plain(String(sql)) }
    return object === 'table' ? [entry, ...columnsOf(connection, entry.name)] : [entry]
  })
}

function columnsOf(connection: Connection, table: string): CatalogueEntry[] {
  const columns = connection
    .prepare('select name, type, "notnull", dflt_value, pk from pragma_table_xinfo(?) order by cid')
    .all(table)
  return columns.map(({ name, type, notnull, dflt_value: preset, pk }) => {
    const words = [String(type).toLowerCase()]
    if (notnull === 1) words.push('not null')
    if (preset !== null) words.push(`default ${String(preset)}`)
    if (pk !== 0) words.push(`primary key ${String(pk)}`)
    return { object: 'column', table, name: String(name), definition: words.join(' ') }
  })
}

/** Versions of SQLite quote names and break lines in their own way. */
function plain(sql: string): string {
  return sql
    .replaceAll('"', '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([(),]) ?/g, '$1')
    .trim()
    .toLowerCase()
}
