/** Names that concern the store as a whole. */
import { factPages } from '../server/fact-pages.ts'
import type { FactKind } from '../store.ts'
import type { Connection } from './connection/connection.ts'
import type { Keys } from './layout/keys.ts'

export async function addFacts(
  connection: Connection,
  keys: Keys,
  kind: FactKind,
  names: readonly string[],
): Promise<void> {
  for (const page of factPages(names)) {
    await connection.send('ZADD', keys.facts(kind), ...page.flatMap((name) => [0, name]))
  }
}

export async function knownFacts(
  connection: Connection,
  keys: Keys,
  kind: FactKind,
  names: readonly string[],
): Promise<string[]> {
  const known: string[] = []
  for (const page of factPages(names)) {
    const scores = await Promise.all(page.map((name) => connection.send('ZSCORE', keys.facts(kind), name)))
    known.push(...page.filter((_, at) => scores[at] !== null))
  }
  return known
}
