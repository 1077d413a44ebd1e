/**
 * Removes ended executions of tasks that keep no more than a number of them, the oldest ones of all partitions. Each removal counts
 * anew, and names the time up to which it removes. So a crash, a second caller or the end of a retention does no harm.
 */
import { PURGE_COUNT_MAX } from '../kernel/index.ts'
import type { IndexEntry, KeptTask, Position } from '../kernel/index.ts'
import type { Batcher } from './batcher.ts'
import { partitionsOf } from './partitions.ts'
import type { Partition } from './store.ts'

/** Removals of one task that follow each other in one call. The next call continues. */
const ROUNDS_MAX = 20
/** Partitions that are asked at the same time. If the store does not answer, the process that closes waits for these alone. */
const PARTITIONS_AT_ONCE = 4

type KeepingTask = Omit<KeptTask, 'count'>

/** Returns the executions that were removed. */
export async function keepNewest(batcher: Batcher): Promise<string[]> {
  const partitions = partitionsOf(batcher.store.settings, ['fp'])
  const purged: string[] = []
  for (const task of await findExcess(batcher, partitions)) {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const removed = await removeOldest(batcher, partitions, task)
      if (removed.length === 0) break
      purged.push(...removed)
    }
  }
  return purged
}

/** Returns the tasks with more than they keep. */
async function findExcess(batcher: Batcher, partitions: readonly Partition[]): Promise<KeepingTask[]> {
  const counted = await inTurns(partitions, (partition) => countIn(batcher, partition))
  const totals = new Map<string, KeptTask>()
  for (const tasks of counted) {
    for (const [id, one] of tasks) {
      const total = totals.get(id)
      const keep = Math.max(one.keep, total?.keep ?? 0)
      totals.set(id, { ...one, keep, count: one.count + (total?.count ?? 0) })
    }
  }
  return [...totals.values()].filter(({ count, keep }) => count > keep)
}

/** A task may have several queues, and their numbers may differ: the largest applies. */
async function countIn(batcher: Batcher, partition: Partition): Promise<Map<string, KeptTask>> {
  const tasks = new Map<string, KeptTask>()
  let from: Position | undefined
  do {
    const { result } = await batcher.run(partition, 'countKept', { from })
    for (const one of result.tasks) {
      const id = JSON.stringify([one.namespace, one.task])
      const known = tasks.get(id)
      tasks.set(id, known !== undefined && known.keep > one.keep ? known : one)
    }
    from = result.next
  } while (from !== undefined)
  return tasks
}

/** Removes one part of the excess. */
async function removeOldest(
  batcher: Batcher,
  partitions: readonly Partition[],
  { namespace, task, keep }: KeepingTask,
): Promise<string[]> {
  const read = await inTurns(partitions, async (partition) => {
    const { result } = await batcher.run(partition, 'listKept', { namespace, task, keep })
    return { count: result.count, oldest: result.oldest.map((entry) => ({ ...entry, partition })) }
  })
  const excess = read.reduce((sum, { count }) => sum + count, 0) - keep
  if (excess <= 0) return []
  const oldest = oldestOf(
    read.map((list) => list.oldest),
    excess,
  )
  const removals = await inTurns(partitions, async (partition): Promise<string[]> => {
    const own = oldest.filter((entry) => entry.partition === partition)
    const to = own[own.length - 1]?.score
    if (to === undefined) return []
    const kept = { namespace, task, count: own.length, to }
    return (await batcher.run(partition, 'purgeExecutions', { kept })).result.purged
  })
  return removals.flat()
}

/** Does something for each partition, a few at a time, and nothing more after a failure. */
async function inTurns<Result>(
  partitions: readonly Partition[],
  work: (partition: Partition) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let i = 0; i < partitions.length; i += PARTITIONS_AT_ONCE) {
    results.push(...(await Promise.all(partitions.slice(i, i + PARTITIONS_AT_ONCE).map(work))))
  }
  return results
}

interface Placed extends IndexEntry {
  readonly partition: Partition
}

/** Returns the oldest of all partitions. Beyond the end of a list that may go on, the order of the others is not known. */
function oldestOf(lists: readonly (readonly Placed[])[], count: number): Placed[] {
  const all = lists.flat().sort((a, b) => a.score - b.score)
  const ends = lists.flatMap((list) => (list.length < PURGE_COUNT_MAX ? [] : (list[list.length - 1]?.score ?? [])))
  const known = Math.min(...ends)
  const certain = all.filter(({ score }) => score <= known)
  return certain.slice(0, count)
}
