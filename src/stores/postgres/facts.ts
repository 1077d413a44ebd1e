/** Names that concern the store as a whole. */
import { FACT_PAGE_COUNT, factPages } from '../server/fact-pages.ts'
import type { FactKind } from '../store.ts'
import type { Session } from './wire/session.ts'

/** Inserts in the order of the names, so that concurrent calls cannot wait for each other. */
export async function insertFacts(
  session: Session,
  schema: string,
  kind: FactKind,
  names: readonly string[],
): Promise<void> {
  for (const page of factPages([...names].sort())) {
    await session.query(
      `insert into ${schema}.fact (kind, name) select $1, name from unnest($2::text[]) as n (name) on conflict do nothing`,
      [kind, page],
    )
  }
}

export async function selectFacts(
  session: Session,
  schema: string,
  kind: FactKind,
  names: readonly string[],
): Promise<string[]> {
  const found: string[] = []
  for (const page of factPages(names)) {
    const rows = await session.query(
      `select name from ${schema}.fact where kind = $1 and name = any ($2::text[]) order by name limit ${FACT_PAGE_COUNT}`,
      [kind, page],
    )
    found.push(...rows.map(({ name }) => name as string))
  }
  return found
}
