/** Wakes of budgets that their processes have not delivered. */
import { expect, test } from 'vitest'
import { EngineError } from '../../kernel/engine-error.ts'
import { LIMIT_WAKE_COUNT } from '../../kernel/index.ts'
import { budgetId } from '../../kernel/model/budget-ids.ts'
import { wakeBlocked } from '../../stores/deliver-wakes.ts'
import type { Partition } from '../../stores/store.ts'
import { createWorld } from '../engine.fixture.ts'
import type { World } from '../engine.fixture.ts'
import { startEngine } from '../engine.ts'
import { only } from '../flow.fixture.ts'

const PARTITION: Partition = 'q:0'
const ROOT = 'tenants'
/** Longer than the engine leaves a process to deliver its wakes. */
const SOON_MS = 4_000
const tokens = (value: number) => [{ dimension: 'tokens', value }]

/** Work with a key, in a partition of executions, waits for room. */
async function wait({ batcher, runtime }: World, key: string, waitingIn: number): Promise<void> {
  const spender = { executionId: undefined, namespace: 'default', task: 'agent', epoch: 1, attempt: 1 }
  const accounts = [{ name: ROOT, key }]
  await batcher.run(PARTITION, 'spendBudget', { root: ROOT, key: `${key}:a`, accounts, amounts: tokens(10), spender })
  const request = { limit: budgetId(ROOT, ROOT), key, weight: 1, needed: 1, spare: 0, waitingIn }
  const ids = { requestId: runtime.uuid(), workerInstanceId: 'w' }
  await batcher.run(PARTITION, 'takePermits', { ...ids, ttlMs: 1, requests: [request] })
}

async function define({ batcher }: World, hard: number): Promise<void> {
  const terms = { hard: tokens(hard), soft: [], onBreach: 'refuse_new', boundaries: [] } as const
  await batcher.run(PARTITION, 'defineBudget', { root: ROOT, name: ROOT, ...terms })
}

function cutOff({ store }: World, down: Partition): void {
  const run = store.run.bind(store)
  store.run = async (partition, ...rest) => {
    if (partition === down) throw new EngineError('store_unavailable')
    return await run(partition, ...rest)
  }
}

/** The keys whose wakes have not arrived. */
async function owed({ store }: World): Promise<string[]> {
  const { records } = await store.dump(PARTITION)
  return records.flatMap((one) => (one.type === 'gauge' && one.owed !== undefined ? [one.key] : []))
}

test('a partition that does not answer delays neither the wakes of others nor the timers of budgets', async () => {
  const world = createWorld(2)
  const { runtime, log, batcher, store } = world
  await define(world, 10)
  for (const [number, key] of ['a', 'b'].entries()) {
    await wait(world, key, number)
    await batcher.run(PARTITION, 'raiseBudget', { root: ROOT, name: ROOT, key, requestId: key, amounts: tokens(5) })
  }
  const held = { root: ROOT, key: 'held', accounts: [{ name: ROOT, key: 'c' }], amounts: tokens(1) }
  const spender = { executionId: undefined, namespace: 'default', task: 'agent', epoch: 1, attempt: 1 }
  await batcher.run(PARTITION, 'reserveBudget', { ...held, spender, ttlMs: SOON_MS - 500 })
  cutOff(world, 'fp:0')

  await using _ = startEngine({ batcher, runtime, log, intervals: only('due', 600_000) })
  await runtime.advance(SOON_MS)

  expect(await owed(world)).toEqual(['a'])
  const { records } = await store.dump(PARTITION)
  expect(records.filter(({ type }) => type === 'reservation')).toEqual([])
})

test('keys behind one whose partition does not answer are woken in the same walk', async () => {
  const world = createWorld(2)
  await define(world, 10)
  const keys = Array.from({ length: 2 * LIMIT_WAKE_COUNT }, (_, i) => `k${i + 100}`)
  for (const [i, key] of keys.entries()) await wait(world, key, i < 2 ? 0 : 1)
  await define(world, 20)
  cutOff(world, 'fp:0')

  await expect(wakeBlocked(world.batcher, budgetId(ROOT, ROOT))).rejects.toThrow()

  const left = await owed(world)
  expect(left).toEqual(expect.arrayContaining(keys.slice(0, 2)))
  expect(left).not.toContain(keys.at(-1))
  const { records } = await world.store.dump(PARTITION)
  expect(records.filter((record) => record.type === 'gauge' && record.waiting !== undefined)).toEqual([])
})
