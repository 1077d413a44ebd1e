/** Compares the tables of a store with those that the migrations make, and names what to do about each difference. */

/** A table or a view, or what belongs to one. */
export interface CatalogueEntry {
  readonly object: 'table' | 'view' | 'column' | 'index' | 'constraint' | 'trigger'
  /** The table that it belongs to, or its own name. */
  readonly table: string
  readonly name: string
  readonly definition: string
}

export interface TableDifference {
  /** `unexpected`: the migrations make nothing of this name. */
  readonly kind: 'missing' | 'unexpected' | 'changed'
  readonly object: CatalogueEntry['object']
  /** A table or a view, or what belongs to one, as in `execution.lane`. */
  readonly name: string
  readonly expected: string | undefined
  readonly found: string | undefined
  readonly remedy: string
}

const remedies: Readonly<
  Record<TableDifference['kind'], Readonly<Partial<Record<CatalogueEntry['object'], string>>> & { other: string }>
> = {
  missing: {
    table: 'Restore the store from a backup: the rows of the table are lost.',
    column: 'Restore the store from a backup: the values of the column are lost.',
    other: 'Create it again as expected.',
  },
  unexpected: {
    table: 'FlowFabric does not use it. Move it to a place of its own.',
    view: 'FlowFabric does not use it. Move it to a place of its own.',
    index: 'Drop it unless you need it: it makes writes slower, and a unique index can make them fail.',
    other: 'Drop it: it can make writes fail.',
  },
  changed: { other: 'Stop all programs that use the store, and change it back to what is expected.' },
}

export function compareCatalogues(
  expected: readonly CatalogueEntry[],
  found: readonly CatalogueEntry[],
): TableDifference[] {
  const [wanted, present] = [byPlace(expected), byPlace(found)]
  const differences: TableDifference[] = []
  const troubled = new Set<string>()
  const report = (one: CatalogueEntry, kind: TableDifference['kind']) => {
    const [before, now] = [wanted.get(placeOf(one)), present.get(placeOf(one))]
    troubled.add(one.table)
    const remedy = remedies[kind][one.object] ?? remedies[kind].other
    const name = isWhole(one) ? one.table : `${one.table}.${one.name}`
    differences.push({ kind, object: one.object, name, expected: before?.definition, found: now?.definition, remedy })
  }
  const lacks = (place: ReadonlyMap<string, CatalogueEntry>, one: CatalogueEntry) => !place.has(placeOf(one))
  for (const one of expected) if (isWhole(one) && lacks(present, one)) report(one, 'missing')
  for (const one of found) if (isWhole(one) && lacks(wanted, one)) report(one, 'unexpected')
  // Without its table, the difference of what belongs to it is no news.
  const absent = new Set(troubled)
  const hasTable = ({ table }: CatalogueEntry) => !absent.has(table)
  for (const one of expected) if (!isWhole(one) && hasTable(one) && lacks(present, one)) report(one, 'missing')
  for (const one of found) if (!isWhole(one) && hasTable(one) && lacks(wanted, one)) report(one, 'unexpected')
  const isChanged = (one: CatalogueEntry) => {
    const now = present.get(placeOf(one))
    return now !== undefined && now.definition !== one.definition
  }
  for (const one of expected) if (!isWhole(one) && isChanged(one)) report(one, 'changed')
  // The definition of a table may contain those of its columns, which are reported already.
  const reported = new Set(troubled)
  for (const one of expected) if (isWhole(one) && !reported.has(one.table) && isChanged(one)) report(one, 'changed')
  return differences.sort((a, b) => (a.name < b.name ? -1 : 1))
}

function isWhole({ object }: CatalogueEntry): boolean {
  return object === 'table' || object === 'view'
}

function placeOf({ object, table, name }: CatalogueEntry): string {
  return JSON.stringify([object, table, name])
}

function byPlace(entries: readonly CatalogueEntry[]): Map<string, CatalogueEntry> {
  return new Map(entries.map((one) => [placeOf(one), one]))
}
