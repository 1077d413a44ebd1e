import { expect, test } from 'vitest'
import { Client, task } from '../../client/index.ts'
import { virtualRuntime } from '../../runtime/index.ts'
import { MemoryStore } from '../../stores/memory/memory-store.ts'
import { executionPartition } from '../../stores/store.ts'
import type { PartitionDump } from '../../stores/store.ts'
import { proveIndexes, repairIndexes } from './index-check.ts'

const partition = executionPartition(0)

async function clientWithExecutions(): Promise<Client> {
  const runtime = virtualRuntime()
  const client = new Client(new MemoryStore(runtime, { executionPartitions: 1, indexedTags: ['plan'] }), runtime)
  await client.submit(task('greet'), {}, { tags: { plan: 'pro' } })
  await client.submit(task('greet'), {}, { delay: '1h' })
  return client
}

test('records and indexes of a store in use agree', async () => {
  await using client = await clientWithExecutions()
  const check = proveIndexes(await client.store.dump(partition))
  expect(check).toMatchObject({ kind: 'proven', problemCount: 0, problems: [] })
  expect(check.examined).toBeGreaterThan(4)
})

test('an entry that is missing, in the wrong place or without a record is found', async () => {
  await using client = await clientWithExecutions()
  const dump = await client.store.dump(partition)
  const [first, second, ...others] = dump.entries
  const damaged: PartitionDump = {
    ...dump,
    entries: [{ ...second!, score: second!.score + 1 }, ...others, { index: 'due', score: 1, id: '0-absent' }],
  }

  const check = proveIndexes(damaged)

  expect(check.problemCount).toBe(3)
  expect(check.problems).toEqual(
    expect.arrayContaining([
      { problem: 'missing_entry', index: first!.index, id: first!.id },
      { problem: 'wrong_score', index: second!.index, id: second!.id },
      { problem: 'extra_entry', index: 'due', id: '0-absent' },
    ]),
  )
})

test('a repairing walk reaches the end and finds nothing to repair', async () => {
  await using client = await clientWithExecutions()
  expect(await repairIndexes(client.batcher, partition)).toMatchObject({ kind: 'repaired', problemCount: 0 })
})
