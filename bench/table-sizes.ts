/** What the tables of a PostgreSQL store take up, and what their changes and their cleaning came to so far. */
import type { PostgresServer } from '../test/servers/postgres-server.ts'

export interface TableSize {
  readonly table: string
  /** With its indexes and whatever else belongs to it. */
  readonly bytes: number
  readonly tableBytes: number
  readonly indexBytes: number
  readonly liveRows: number
  /** Old versions of rows that have not been cleaned away. */
  readonly deadRows: number
  /** Rows inserted, updated and deleted so far. */
  readonly changes: number
  readonly updates: number
  /** Updates that stayed on their page and left the indexes alone. */
  readonly hotUpdates: number
  readonly autovacuums: number
  readonly autoanalyzes: number
  /** How the table differs from what the server does by itself; empty if it does not. */
  readonly options: string
}

const SIZES = `
  select stat.relname as table,
    pg_total_relation_size(stat.relid)::float8 as bytes,
    pg_relation_size(stat.relid)::float8 as table_bytes,
    pg_indexes_size(stat.relid)::float8 as index_bytes,
    stat.n_live_tup::float8 as live_rows,
    stat.n_dead_tup::float8 as dead_rows,
    (stat.n_tup_ins + stat.n_tup_upd + stat.n_tup_del)::float8 as changes,
    stat.n_tup_upd::float8 as updates,
    stat.n_tup_hot_upd::float8 as hot_updates,
    stat.autovacuum_count::float8 as autovacuums,
    stat.autoanalyze_count::float8 as autoanalyzes,
    coalesce(array_to_string(class.reloptions, ', '), '') as options
  from pg_stat_user_tables stat
  join pg_class class on class.oid = stat.relid
  where stat.schemaname = $1
  order by stat.relname`

/** Every table of a schema, by its name. */
export async function tableSizes(server: PostgresServer, schema: string): Promise<TableSize[]> {
  const rows = await server.query(SIZES, [schema])
  return rows.map((row) => ({
    table: String(row['table']),
    bytes: Number(row['bytes']),
    tableBytes: Number(row['table_bytes']),
    indexBytes: Number(row['index_bytes']),
    liveRows: Number(row['live_rows']),
    deadRows: Number(row['dead_rows']),
    changes: Number(row['changes']),
    updates: Number(row['updates']),
    hotUpdates: Number(row['hot_updates']),
    autovacuums: Number(row['autovacuums']),
    autoanalyzes: Number(row['autoanalyzes']),
    options: String(row['options']),
  }))
}

/** The autovacuum settings of the server, where a table does not override them. */
export async function autovacuumSettings(server: PostgresServer): Promise<Record<string, string>> {
  const rows = await server.query(
    `select name, current_setting(name) as value from pg_settings where name ~ '^autovacuum(_naptime|_max_workers|_vacuum_.*|)$'
     order by name`,
  )
  return Object.fromEntries(rows.map((row) => [String(row['name']), String(row['value'])]))
}
