import { expect, test } from 'vitest'
import { Client, task } from '../../src/client/index.ts'
import { systemRuntime } from '../../src/runtime/index.ts'
import { MemoryStore } from '../../src/stores/memory/memory-store.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type { PartitionDump, StoredEvent } from '../../src/stores/store.ts'
import { findFaults } from './history.ts'

/** What a store is left with after one execution was claimed, lost, claimed again and completed. */
async function soundDump(): Promise<PartitionDump> {
  const runtime = systemRuntime()
  const store = new MemoryStore(runtime, { executionPartitions: 1, indexedTags: [] })
  await using client = new Client(store, runtime)
  const partition = executionPartition(0)
  const claim = async () => {
    const { result } = await client.batcher.run(partition, 'claimForWorker', {
      requestId: runtime.uuid(),
      workerId: 'worker',
      workerInstanceId: runtime.uuid(),
      queues: [{ lane: 'default', class: 'work' }],
      count: 1,
      leaseTtlMs: 60_000,
      seed: 1,
    })
    return result.executions[0]!
  }
  const { id } = await client.submit(task('work'), 'payload')
  await claim()
  await client.revokeLease(id, 'to be claimed again')
  const { executionId, fence } = await claim()
  await client.batcher.run(partition, 'completeExecution', { executionId, fence })
  return await store.dump(partition)
}

/** The same dump with its events changed and numbered anew. */
function withEvents(dump: PartitionDump, change: (events: StoredEvent[]) => StoredEvent[]): PartitionDump {
  return { ...dump, events: change([...dump.events]).map((event, place) => ({ ...event, sequence: place + 1 })) }
}

test('a history in which nothing went wrong has no fault', async () => {
  expect(findFaults(await soundDump())).toEqual([])
})

const spoiled: readonly { what: string; fault: string; spoil: (dump: PartitionDump) => PartitionDump }[] = [
  {
    what: 'a missing index entry',
    fault: 'is missing',
    spoil: (dump) => ({ ...dump, entries: dump.entries.slice(1) }),
  },
  {
    what: 'an index entry too many',
    fault: 'belongs to no record',
    spoil: (dump) => ({ ...dump, entries: [...dump.entries, { index: 'due', score: 1, id: 'unknown' }] }),
  },
  { what: 'a missing payload', fault: 'are missing', spoil: (dump) => ({ ...dump, blobKeys: [] }) },
  {
    what: 'forgotten bytes',
    fault: 'belong to no record',
    spoil: (dump) => ({ ...dump, blobKeys: [...dump.blobKeys, 'forgotten'] }),
  },
  { what: 'a lost execution', fault: 'has events, but no record', spoil: (dump) => ({ ...dump, records: [] }) },
  {
    what: 'a gap in the event log',
    fault: 'has the sequence',
    spoil: (dump) => ({ ...dump, events: dump.events.slice(1) }),
  },
  {
    what: 'a second creation',
    fault: 'it is created twice',
    spoil: (dump) => withEvents(dump, ([first, ...rest]) => [first!, first!, ...rest]),
  },
  {
    what: 'an execution without a beginning',
    fault: 'its creation is not in the log',
    spoil: (dump) => withEvents(dump, (events) => events.slice(1)),
  },
  {
    what: 'a second end',
    fault: 'comes after its end',
    spoil: (dump) => withEvents(dump, (events) => [...events, events.at(-1)!]),
  },
  {
    what: 'an end that is not in the log',
    fault: 'its events have no end',
    spoil: (dump) => withEvents(dump, (events) => events.slice(0, -1)),
  },
  {
    what: 'a second holder beside the first',
    fault: 'begins while epoch 1 is held',
    spoil: (dump) => withEvents(dump, (events) => events.filter(({ type }) => type !== 'lease_revoked')),
  },
  {
    what: 'an epoch that does not rise',
    fault: 'follows epoch 1',
    spoil: (dump) =>
      withEvents(dump, (events) => events.map((event) => (event.epoch === 2 ? { ...event, epoch: 1 } : event))),
  },
  {
    what: 'a completion by a worker that lost the lease',
    fault: 'names epoch 1, but 2 holds it',
    spoil: (dump) =>
      withEvents(dump, (events) =>
        events.map((event) => (event.type === 'execution_ended' ? { ...event, epoch: 1 } : event)),
      ),
  },
]

test.each(spoiled)('$what is found', async ({ fault, spoil }) => {
  expect(findFaults(spoil(await soundDump())).join('\n')).toContain(fault)
})
