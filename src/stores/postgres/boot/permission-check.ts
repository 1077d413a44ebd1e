/** Checks the privileges of the user when the store is opened, so that no later statement is refused. */
import { EngineError } from '../../../kernel/engine-error.ts'
import { quoted } from '../wire/session.ts'
import type { Session } from '../wire/session.ts'

const ALL = ['select', 'insert', 'update', 'delete'] as const
type Privilege = (typeof ALL)[number]

/** Tables that need fewer privileges: settings are written once, and partitions are never removed. */
const reducedPrivileges: Readonly<Record<string, readonly Privilege[]>> = {
  meta: ['select'],
  partition: ['select', 'insert', 'update'],
}

/** Returns the statements by which the owner lets another role use the store. */
export function grantsFor(schema: string): string {
  const name = quoted(schema)
  return `grant usage on schema ${name} to …; grant ${ALL.join(', ')} on all tables in schema ${name} to …;`
}

const FIND_DENIED = `
  select c.relname as table, p.privilege
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  cross join unnest($2::text[]) as p (privilege)
  where n.nspname = $1 and c.relkind = 'r' and not pg_catalog.has_table_privilege(c.oid, p.privilege)
  order by c.relname, p.privilege limit 100`

export async function checkPermissions(session: Session, schema: string): Promise<void> {
  const [{ may_use: mayUse } = {}] = await session.query(
    `select pg_catalog.has_schema_privilege($1, 'usage') as may_use`,
    [schema],
  )
  const rows = mayUse === true ? await session.query(FIND_DENIED, [schema, ALL]) : []
  const denied = rows.filter(({ table, privilege }) => isNeeded(String(table), privilege as Privilege))
  if (mayUse === true && denied.length === 0) return
  const missing = denied.map(({ table, privilege }) => `${String(privilege)} on ${String(table)}`)
  throw new EngineError('invalid_configuration', {
    field: 'location',
    message:
      `The user lacks what the store needs: ${missing.length === 0 ? `usage of the schema ${schema}` : missing.join(', ')}. ` +
      `Let the owner run: ${grantsFor(schema)}`,
  })
}

function isNeeded(table: string, privilege: Privilege): boolean {
  const needed = Object.hasOwn(reducedPrivileges, table) ? reducedPrivileges[table] : ALL
  return needed?.includes(privilege) ?? false
}
