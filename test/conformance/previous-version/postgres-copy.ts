/** The content of a Postgres schema as SQL text, which pg_dump writes. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { findInstalledPostgres } from '../../servers/postgres-programs.ts'

/** Stands for the schema of the store, which differs from one to the next. */
const SCHEMA = 'recorded_schema'

const OUTPUT_BYTES_MAX = 64 * 1_024 * 1_024

export async function copyPostgres(location: string, schema: string): Promise<string> {
  const folder = await findInstalledPostgres()
  if (folder === undefined) throw new Error('pg_dump is needed: install PostgreSQL.')
  const flags = ['--inserts', '--no-owner', '--no-privileges', '--no-comments', `--schema=${schema}`, location]
  const options = { maxBuffer: OUTPUT_BYTES_MAX }
  const { stdout } = await promisify(execFile)(path.join(folder, 'pg_dump'), flags, options)
  const statements = stdout.split('\n').filter((line) => line !== '' && !/^(--|\\|SET |SELECT pg_catalog)/.test(line))
  return `${statements.join('\n')}\n`.replaceAll(schema, SCHEMA)
}

/** Returns the statements that restore the content under another schema. */
export function restorePostgres(schema: string, content: string): string {
  return content.replaceAll(SCHEMA, schema)
}
