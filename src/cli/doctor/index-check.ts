/** Checks that indexes agree with records: read-only on a dump of the partition, or with repair. */
import { entriesOf } from '../../kernel/index.ts'
import type { IndexEntry, IndexProblem, ReconcileCursor } from '../../kernel/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import type { Partition, PartitionDump } from '../../stores/store.ts'

/** The most problems that are shown; the others are only counted. */
const PROBLEMS_SHOWN_MAX = 20
/** The most steps of a repair of one partition, of 200 entries each. */
const REPAIR_STEPS_MAX = 1_000_000

export interface IndexCheck {
  readonly kind: 'proven' | 'repaired'
  readonly examined: number
  readonly problemCount: number
  readonly problems: readonly IndexProblem[]
}

export function proveIndexes(dump: PartitionDump): IndexCheck {
  const derived = new Map<string, IndexEntry>()
  for (const record of dump.records) for (const entry of entriesOf(record)) derived.set(nameOf(entry), entry)
  const problems: IndexProblem[] = []
  for (const entry of dump.entries) {
    const expected = derived.get(nameOf(entry))
    if (expected === undefined) problems.push({ problem: 'extra_entry', index: entry.index, id: entry.id })
    else if (expected.score !== entry.score) problems.push({ problem: 'wrong_score', index: entry.index, id: entry.id })
    derived.delete(nameOf(entry))
  }
  for (const entry of derived.values()) problems.push({ problem: 'missing_entry', index: entry.index, id: entry.id })
  return checked('proven', dump.entries.length, problems)
}

export async function repairIndexes(batcher: Batcher, partition: Partition): Promise<IndexCheck> {
  const problems: IndexProblem[] = []
  let examined = 0
  let cursor: ReconcileCursor | undefined
  for (let step = 0; step < REPAIR_STEPS_MAX; step++) {
    const { result } = await batcher.run(partition, 'reconcileIndexes', { cursor })
    examined += result.examined
    problems.push(...result.repaired)
    cursor = result.cursor
    if (cursor === undefined) break
  }
  return checked('repaired', examined, problems)
}

function checked(kind: IndexCheck['kind'], examined: number, problems: readonly IndexProblem[]): IndexCheck {
  return { kind, examined, problemCount: problems.length, problems: problems.slice(0, PROBLEMS_SHOWN_MAX) }
}

/** A unique name of the entry: an index holds an id once, and neither contains the separator. */
function nameOf(entry: IndexEntry): string {
  return `${entry.index}\u0000${entry.id}`
}
