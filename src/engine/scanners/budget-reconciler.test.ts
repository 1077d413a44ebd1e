import { expect, test } from 'vitest'
import { OWN_ACCOUNT_IDLE_MS } from '../../kernel/index.ts'
import { accountId, budgetId } from '../../kernel/model/budget-ids.ts'
import type { Partition } from '../../stores/store.ts'
import { createWorld, valueOf } from '../engine.fixture.ts'
import type { World } from '../engine.fixture.ts'
import { startEngine } from '../engine.ts'
import { only } from '../flow.fixture.ts'

const INTERVAL_MS = 1_000
/** Longer than an interval with all its jitter. */
const ONE_CYCLE_MS = 1_200
const PARTITION: Partition = 'q:0'
const ROOT = 'runs'

async function spend(world: World, executionId: string): Promise<void> {
  await world.batcher.run(PARTITION, 'spendBudget', {
    root: ROOT,
    key: `${executionId}:a`,
    accounts: [{ name: ROOT, key: executionId }],
    amounts: [{ dimension: 'tokens', value: 7 }],
    spender: { executionId: undefined, namespace: 'default', task: 'agent', epoch: 1, attempt: 1 },
  })
}

async function accounts(world: World): Promise<string[]> {
  const { records } = await world.store.dump(PARTITION)
  return records.filter((record) => record.type === 'account').map(({ id }) => id)
}

test('the account of an execution that sleeps for long is kept, and that of one that is gone is removed', async () => {
  const world = createWorld(2)
  const { runtime, log, batcher } = world
  const definition = { root: ROOT, name: ROOT, hard: [], soft: [], onBreach: 'suspend', boundaries: [] } as const
  await batcher.run(PARTITION, 'defineBudget', { ...definition, isPerExecution: true })
  const own = { limit: budgetId(ROOT, ROOT), key: '', weight: 1, instead: undefined, budget: 'own' } as const
  const sleeping = await world.submit({ limits: [own], partition: 1, delayMs: 2 * OWN_ACCOUNT_IDLE_MS })
  const gone = `1-${runtime.uuid()}`
  await spend(world, sleeping)
  await spend(world, gone)
  await runtime.advance(OWN_ACCOUNT_IDLE_MS)
  await batcher.run(PARTITION, 'runDue', { limit: 10, seed: 1, family: 'q' })

  await using engine = startEngine({ batcher, runtime, log, intervals: only('budget_reconciler', INTERVAL_MS) })
  await runtime.advance(ONE_CYCLE_MS)

  expect(await accounts(world)).toEqual([accountId(ROOT, ROOT, sleeping)])
  const labels = { scanner: 'budget_reconciler', case: 'account_retired' }
  expect(valueOf(engine.metrics, 'ff_scanner_items_total', labels)).toBe(1)
})

test('an account whose key names a partition that the store does not have does not stop the reconciler', async () => {
  const world = createWorld(2)
  const { runtime, log, batcher, store } = world
  const definition = { root: ROOT, name: ROOT, hard: [], soft: [], onBreach: 'suspend', boundaries: [] } as const
  await batcher.run(PARTITION, 'defineBudget', { ...definition, isPerExecution: true })
  for (const number of [1, 77]) await spend(world, `${number}-${runtime.uuid()}`)
  await runtime.advance(OWN_ACCOUNT_IDLE_MS)
  await batcher.run(PARTITION, 'runDue', { limit: 10, seed: 1, family: 'q' })
  const sent: Partition[] = []
  const run = store.run.bind(store)
  store.run = (partition, ...rest) => {
    sent.push(partition)
    return run(partition, ...rest)
  }

  await using _ = startEngine({ batcher, runtime, log, intervals: only('budget_reconciler', INTERVAL_MS) })
  await runtime.advance(ONE_CYCLE_MS)

  expect(await accounts(world)).toEqual([])
  expect(sent).toContain('fp:1')
  expect(sent).not.toContain('fp:77')
})
