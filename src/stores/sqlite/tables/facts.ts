/** Names that concern the store as a whole. */
import type { FactKind } from '../../store.ts'
import type { Connection } from '../connection/connection.ts'

export function insertFacts(connection: Connection, kind: FactKind, names: readonly string[]): void {
  const insert = connection.prepare('insert into fact (kind, name) values (?, ?) on conflict do nothing')
  for (const name of names) insert.run(kind, name)
}

export function selectFacts(connection: Connection, kind: FactKind, names: readonly string[]): string[] {
  const select = connection.prepare('select 1 from fact where kind = ? and name = ?')
  return names.filter((name) => select.get(kind, name) !== undefined)
}
