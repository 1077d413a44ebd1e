/**
 * Migrates the tables of a store: all missing steps in one transaction, under a lock, so that concurrent migrations run
 * once. Refuses a schema with tables of another program.
 */
import { EngineError } from '../../../kernel/engine-error.ts'
import { migrations } from './migrations.ts'
import type { Migration } from './migrations.ts'
import { quoted } from '../wire/session.ts'
import type { Session } from '../wire/session.ts'

export interface MigrateOptions {
  /** Returns the plan without running it. */
  readonly isDryRun?: boolean | undefined
  readonly steps?: readonly Migration[] | undefined
}

/** The versions of a migration and all statements that it runs. */
export interface MigrationPlan {
  readonly from: number
  readonly to: number
  readonly steps: readonly Migration[]
}

export async function migrate(session: Session, schema: string, options: MigrateOptions = {}): Promise<MigrationPlan> {
  const { isDryRun = false, steps } = options
  if (isDryRun) return await planMigration(session, schema, steps)
  return await underLock(session, schema, async () => {
    const plan = await planMigration(session, schema, steps)
    await applyPlan(session, plan)
    return plan
  })
}

/** Plans the missing steps. Refuses a schema that must not be touched. */
export async function planMigration(
  session: Session,
  schema: string,
  steps: readonly Migration[] = migrations,
): Promise<MigrationPlan> {
  const { exists, version } = await schemaState(session, schema)
  refuseNewer(version, steps.length)
  const missing = steps.slice(version).map(({ title, sql }) => ({ title, sql: withSchema(sql, schema) }))
  if (!exists) missing.unshift({ title: `create the schema ${schema}`, sql: `create schema ${quoted(schema)};` })
  if (missing.length > 0) missing.push(recordVersion(schema, steps.length))
  return { from: version, to: steps.length, steps: missing }
}

function recordVersion(schema: string, version: number): Migration {
  const sql = `insert into ${quoted(schema)}.meta (name, value) values ('schema_version', '${version}')
  on conflict (name) do update set value = excluded.value;`
  return { title: `note schema version ${version}`, sql }
}

/** Runs a plan in the caller's transaction. */
export async function applyPlan(session: Session, { steps }: MigrationPlan): Promise<void> {
  for (const { sql } of steps) for (const statement of statementsOf(sql)) await session.query(statement)
}

/** Returns the statements of steps, with the name of a schema. */
export function statementsIn(steps: readonly Migration[], schema: string): string[] {
  return steps.flatMap(({ sql }) => statementsOf(withSchema(sql, schema)))
}

/**
 * Runs work in a transaction under a lock of the schema. The lock has a statement of its own: later statements see what
 * was committed before it.
 */
export async function underLock<T>(session: Session, schema: string, work: () => Promise<T>): Promise<T> {
  await session.query('begin isolation level read committed read write')
  try {
    // A step may take as long as it needs: a timeout would end it every time.
    await session.query(`select set_config('statement_timeout', '0', true)`)
    await session.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`flowfabric ${schema}`])
    const result = await work()
    const [{ id } = {}] = await session.query('select pg_current_xact_id()::text as id')
    await session.query('commit')
    await refuseUnlessCommitted(session, id)
    return result
  } catch (error) {
    // If the rollback fails, the connection is lost and the transaction with it.
    await session.query('rollback').catch(() => undefined)
    throw error
  }
}

/** Throws unless the transaction was committed: the commit of a failed transaction answers without an error. */
async function refuseUnlessCommitted(session: Session, id: unknown): Promise<void> {
  const [{ status } = {}] = await session.query('select pg_xact_status($1::text::xid8) as status', [id])
  if (status === 'committed') return
  throw new EngineError('store_unavailable', { message: 'The server rolled the migration back.' })
}

interface SchemaState {
  readonly exists: boolean
  /** The number of steps that were run: 0 for a schema without tables. */
  readonly version: number
}

const FIND_SCHEMA = `
  select count(distinct n.oid)::integer as schema_count, count(distinct c.oid)::integer as relation_count,
    count(a.attnum) filter (where c.relname = 'meta' and c.relkind = 'r')::integer as meta_column_count
  from pg_catalog.pg_namespace n
  left join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relkind in ('r', 'p', 'v', 'm', 'f')
  left join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname in ('name', 'value') and not a.attisdropped
  where n.nspname = $1`

export async function schemaState(session: Session, schema: string): Promise<SchemaState> {
  const [found = {}] = await session.query(FIND_SCHEMA, [schema])
  const exists = found['schema_count'] === 1
  if (!exists || found['relation_count'] === 0) return { exists, version: 0 }
  if (found['meta_column_count'] !== 2) throw notOurs(schema)
  const version = (await readMeta(session, schema)).get('schema_version')
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1) throw notOurs(schema)
  return { exists, version }
}

/** Reads the settings of a store by name. */
export async function readMeta(session: Session, schema: string): Promise<ReadonlyMap<string, unknown>> {
  const rows = await session.query(`select name, value from ${quoted(schema)}.meta order by name limit 100`)
  return new Map(rows.map(({ name, value }) => [String(name), valueOf(String(value))]))
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not written by a store; the caller refuses it.
    return undefined
  }
}

export function refuseNewer(found: number, known: number): void {
  if (found <= known) return
  throw new EngineError('newer_schema', {
    message: `The store has schema version ${found}, this program knows schema version ${known}.`,
  })
}

function notOurs(schema: string): EngineError {
  const message = `The schema "${schema}" holds tables of another program: name one of its own, as in "?schema=flowfabric".`
  return new EngineError('invalid_configuration', { field: 'location', message })
}

/** Inserts the schema and removes the indentation of the source. */
function withSchema(sql: string, schema: string): string {
  const lines = sql.replaceAll('$schema', quoted(schema)).split('\n')
  const indents = lines.filter((line) => line.trim() !== '').map((line) => /^ */.exec(line)?.[0].length ?? 0)
  const indent = Math.min(...indents)
  return lines
    .map((line) => line.slice(indent))
    .join('\n')
    .trim()
}

/** A statement ends with a semicolon at the end of a line, and nothing else does. */
function statementsOf(sql: string): string[] {
  return sql
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}
