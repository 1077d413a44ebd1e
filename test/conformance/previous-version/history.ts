/** A fixed history of operations that leaves records of every type in many states. It is written once per version. */
import fc from 'fast-check'
import { virtualRuntime } from '../../../src/runtime/index.ts'
import type { VirtualRuntime } from '../../../src/runtime/index.ts'
import { openStore } from '../../../src/stores/open/open-store.ts'
import { executionPartition } from '../../../src/stores/store.ts'
import type { Call, PartitionDump, Store } from '../../../src/stores/store.ts'
import { anyBatches } from '../../properties/commands.ts'
import type { Batch } from '../../properties/commands.ts'
import { anyFlowBatches } from '../../properties/flow-sequences.ts'
import { anyJournalBatches } from '../../properties/journal-sequences.ts'
import { Script } from '../../properties/script.ts'
import { ordered } from '../ordered-dump.ts'

const SEED = 20_261_116
/** Of so many random sequences of a kind, the one is taken that leaves the most kinds of records behind. */
const CANDIDATES = 300

const SEQUENCES = [anyBatches, anyFlowBatches, anyJournalBatches]

/** Each sequence has a partition of its own. */
export const PARTITIONS = SEQUENCES.map((_, number) => executionPartition(number))

export const INDEXED_TAGS = ['team']

/** Returns a sequence for each partition. */
export async function chooseHistory(): Promise<Batch[][]> {
  return await Promise.all(SEQUENCES.map((sequences, number) => richestOf(sequences, number)))
}

async function richestOf(sequences: fc.Arbitrary<Batch[]>, number: number): Promise<Batch[]> {
  let [best, mostKinds]: [Batch[], number] = [[], 0]
  for (const batches of fc.sample(sequences, { seed: SEED, numRuns: CANDIDATES })) {
    const runtime = virtualRuntime()
    const store = await openStore('memory:', { runtime, indexedTags: INDEXED_TAGS })
    await play(store, runtime, number, batches)
    const { records } = await store.dump(executionPartition(number))
    await store.close()
    const kinds = new Set(
      records.map((record) => `${record.type} ${'state' in record ? JSON.stringify(record.state).slice(0, 30) : ''}`),
    )
    if (kinds.size > mostKinds) [best, mostKinds] = [batches, kinds.size]
  }
  return best
}

async function play(store: Store, runtime: VirtualRuntime, number: number, batches: readonly Batch[]): Promise<void> {
  const script = new Script(number)
  for (const { commands, stepMs } of batches) {
    const calls = commands.flatMap((command): Call | Call[] => script.callFor(command) ?? [])
    const answers = await store.run(executionPartition(number), calls)
    calls.forEach((call, i) => script.note(call, answers[i]))
    runtime.jump(stepMs)
  }
}

export async function writeHistory(store: Store, runtime: VirtualRuntime, history: readonly Batch[][]): Promise<void> {
  for (const [number, batches] of history.entries()) await play(store, runtime, number, batches)
}

/** What a store holds in the partitions of the history: fields in the order of their names, without those that have no value. */
export async function contentOf(store: Store): Promise<PartitionDump[]> {
  const dumps: PartitionDump[] = []
  for (const partition of PARTITIONS) dumps.push(ordered(await store.dump(partition)))
  return JSON.parse(JSON.stringify(dumps, withSortedFields)) as PartitionDump[]
}

function withSortedFields(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
