import { expect, test } from 'vitest'
import { Client, mintExecutionId, prepareSubmit, task } from '../client/index.ts'
import { virtualRuntime } from '../runtime/index.ts'
import { MemoryStore } from '../stores/memory/memory-store.ts'
import { executionPartition } from '../stores/store.ts'
import { diagnose } from './diagnosis.ts'
import type { Diagnosis, Finding } from './diagnosis.ts'

const greet = task('greet', { retention: '1h' })

function newClient(partitions = 1) {
  const runtime = virtualRuntime()
  const store = new MemoryStore(runtime, { executionPartitions: partitions, indexedTags: [] })
  return { runtime, client: new Client(store, runtime) }
}

function verdicts({ findings }: Diagnosis): Partial<Record<Finding['check'], Finding['verdict']>> {
  return Object.fromEntries(findings.map(({ check, verdict }) => [check, verdict]))
}

test('a store in good order is healthy, and every partition is looked at', async () => {
  const { client } = newClient(3)
  await client.submit(greet, {}, { delay: '1h' })

  const diagnosis = await diagnose(client, { repair: false })

  expect(diagnosis.healthy).toBe(true)
  expect(diagnosis.partitions.map(({ partition }) => partition)).toEqual(['fp:0', 'fp:1', 'fp:2'])
  expect(diagnosis.partitions.reduce((sum, { executions }) => sum + executions, 0)).toBe(1)
  // The memory store warns that it keeps nothing.
  expect(verdicts(diagnosis)).toEqual({ store: 'warning', due: 'ok', purge: 'ok', indexes: 'ok', clock: 'ok' })
})

test('timers that nobody sees to are a problem', async () => {
  const { client, runtime } = newClient()
  await client.submit(greet, {}, { delay: '1s' })
  runtime.jump(20_000)
  expect(verdicts(await diagnose(client, { repair: false })).due).toBe('ok')
  runtime.jump(20_000)

  const diagnosis = await diagnose(client, { repair: false })

  expect(diagnosis.healthy).toBe(false)
  expect(diagnosis.partitions[0]?.due).toMatchObject({ count: 1, nextAt: undefined })
  expect(diagnosis.findings).toContainEqual({
    check: 'due',
    verdict: 'problem',
    text: expect.stringContaining('fp:0: 1 due, the oldest for 39s.') as unknown,
    partitions: ['fp:0'],
  })
})

test('every check has one finding, however many partitions it is about', async () => {
  const { client, runtime } = newClient(32)
  for (let number = 0; number < 32; number++) {
    const executionId = mintExecutionId(number, runtime)
    const ids = { executionId, requestId: runtime.uuid() }
    const { input, blobs } = await prepareSubmit({ task: greet, input: {}, options: { delay: '1s' } }, ids, {
      namespace: 'default',
      indexedTags: [],
    })
    await client.batcher.run(executionPartition(number), 'createExecution', input, blobs)
  }
  const well = await diagnose(client, { repair: false })
  runtime.jump(60_000)

  const late = await diagnose(client, { repair: false })

  expect(well.findings.map(({ check }) => check)).toEqual(['store', 'due', 'purge', 'indexes', 'clock'])
  expect(well.findings.every(({ partitions }) => partitions.length === 0)).toBe(true)
  expect(late.findings).toHaveLength(5)
  const due = late.findings.find(({ check }) => check === 'due')
  expect(due?.text).toMatch(/^fp:0, fp:1, fp:2 and 29 more: 32 due, the oldest for 59s\. /)
  expect(due?.partitions).toHaveLength(32)
})

test('executions past their retention are a warning once they have waited long', async () => {
  const { client, runtime } = newClient()
  const execution = await client.submit(greet, {})
  await execution.cancel()
  runtime.jump(3 * 3_600_000)

  const diagnosis = await diagnose(client, { repair: false })

  expect(diagnosis.healthy).toBe(true)
  expect(diagnosis.partitions[0]?.purge.count).toBe(1)
  expect(verdicts(diagnosis).purge).toBe('warning')
})

test('with repair, the indexes are walked instead of proven', async () => {
  const { client } = newClient()
  await client.submit(greet, {})
  const diagnosis = await diagnose(client, { repair: true })
  expect(diagnosis.partitions[0]?.indexes).toMatchObject({ kind: 'repaired', problemCount: 0 })
})
