import { expect, test } from 'vitest'
import { Client, mintExecutionId, prepareSubmit, task } from '../../client/index.ts'
import type { FlowId } from '../../kernel/index.ts'
import { virtualRuntime } from '../../runtime/index.ts'
import { MemoryStore } from '../../stores/memory/memory-store.ts'
import { executionPartition } from '../../stores/store.ts'
import { diagnose } from './diagnosis.ts'
import type { Diagnosis, Finding } from './diagnosis.ts'

const greet = task('greet', { retention: '1h' })

function newClient(partitions = 1) {
  const runtime = virtualRuntime()
  const store = new MemoryStore(runtime, { executionPartitions: partitions, indexedTags: [] })
  return { runtime, client: new Client(store, runtime) }
}

/** A flow with more members than one operation can cancel, cancelled. */
async function cancelLargeFlow({ batcher, runtime }: Client): Promise<void> {
  const flowId = `f0-${runtime.uuid()}` as FlowId
  const common = { namespace: 'default', tags: [], retentionMs: 1_000 }
  const flow = { ...common, flowId, name: 'many', outcomeRule: 'all_members' as const, hold: false }
  await batcher.run('fp:0', 'createFlow', flow)
  for (let i = 0; i < 200; i++) {
    const executionId = mintExecutionId(0, runtime)
    const retry = { attempts: 1, backoff: { kind: 'fixed', delayMs: 0 } as const, jitter: false, onlyCategories: [] }
    const work = { task: 'greet', lane: 'main', class: '', priority: 0, retry, ifExists: 'reject' as const }
    const create = { ...common, ...work, executionId }
    await batcher.run('fp:0', 'addExecutionToFlow', { flowId, executionId, name: `node-${i}`, create, after: [] })
  }
  const wish = { flowId, policy: 'cancel_all' as const, reason: 'enough', by: 'ada', force: true, graceMs: 0 }
  await batcher.run('fp:0', 'cancelFlow', wish)
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
  expect(verdicts(diagnosis)).toEqual({
    store: 'warning',
    due: 'ok',
    purge: 'ok',
    flows: 'ok',
    indexes: 'ok',
    clock: 'ok',
  })
})

test('overdue timers are a problem', async () => {
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

  expect(well.findings.map(({ check }) => check)).toEqual(['store', 'due', 'purge', 'flows', 'indexes', 'clock'])
  expect(well.findings.every(({ partitions }) => partitions.length === 0)).toBe(true)
  expect(late.findings).toHaveLength(6)
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

test('a cancelled flow with overdue member cancels is a problem', async () => {
  const { client, runtime } = newClient()
  await cancelLargeFlow(client)
  expect(verdicts(await diagnose(client, { repair: false })).flows).toBe('ok')
  runtime.jump(60_000)

  const diagnosis = await diagnose(client, { repair: false })

  expect(diagnosis.healthy).toBe(false)
  expect(diagnosis.partitions[0]).toMatchObject({ flows: 1, flowCancels: { count: 1 }, siblingCancels: { count: 0 } })
  expect(diagnosis.findings).toContainEqual({
    check: 'flows',
    verdict: 'problem',
    text: 'fp:0: 1 cancelled flows with pending member cancels, the oldest for 1m. An engine cancels them.',
    partitions: ['fp:0'],
  })
})

test('with repair, the indexes are walked instead of proven', async () => {
  const { client } = newClient()
  await client.submit(greet, {})
  const diagnosis = await diagnose(client, { repair: true })
  expect(diagnosis.partitions[0]?.indexes).toMatchObject({ kind: 'repaired', problemCount: 0 })
})
