import { expect, test } from 'vitest'
import { task } from '../../client/index.ts'
import { webhookId } from '../../kernel/index.ts'
import { limitPartition, logPartitions } from '../../stores/partitions.ts'
import { createWorld } from '../../worker/worker.fixture.ts'
import type { World } from '../../worker/worker.fixture.ts'
import { StoreGauges } from './store-gauges.ts'
import { metricsText } from './text.ts'

/** Reads all gauges, as a scrape shows them. */
async function scrape({ fabric, runtime }: World): Promise<string> {
  return metricsText(await new StoreGauges(fabric, runtime).read())
}

test('a scrape during an outage of the store has one gauge, and the next one has all', async () => {
  await using world = createWorld()
  const gauges = new StoreGauges(world.fabric, world.runtime)
  const read = async () => (await gauges.read()).map(({ metric: { name } }) => name)
  world.store.plan = () => 'before'
  const during = gauges.read()
  await world.advance(5_000)
  expect(await during).toMatchObject([{ metric: { name: 'ff_store_up' }, value: 0 }])

  world.store.plan = () => undefined
  await world.advance(5_000)
  expect(await gauges.read()).toContainEqual(expect.objectContaining({ value: 1, labels: {} }))
  expect(await read()).toEqual(expect.arrayContaining(['ff_store_up', 'ff_workers', 'ff_worker_slots']))
})

test('the lag of consumers is measured in events and seconds, the largest first', async () => {
  await using world = createWorld(2)
  const { fabric, runtime } = world
  for (const name of ['stopped', 'later']) await (await fabric.consume(name, {}, () => undefined)).close()
  await fabric.submit(task('greet'), {})
  await fabric.submit(task('greet'), {})
  await world.advance(90_000)
  await (await fabric.consume('current', {}, () => undefined)).close()

  const text = await scrape(world)

  const labels = (name: string) => `{kind="consumer",namespace="default",consumer="${name}"}`
  expect(text).toContain(`ff_consumer_lag_events${labels('stopped')} 2\n`)
  expect(text).toContain(`ff_consumer_lag_seconds${labels('stopped')} 90\n`)
  expect(text).toContain(`ff_consumer_lag_events${labels('current')} 0\n`)
  expect(text).toContain(`ff_consumer_lag_seconds${labels('current')} 0\n`)
  expect(text).toContain(`ff_consumer_members${labels('later')} 0\n`)
  expect(text).toContain(
    `ff_consumer_unhandled_total{kind="consumer",namespace="default",consumer="later",cause="missed"} 0\n`,
  )
  const lags = await fabric.consumerLags()
  expect(lags.map(({ consumer: { name } }) => name).at(-1)).toBe('current')
  expect(runtime.now() - (lags[0]?.waitingSince ?? 0)).toBe(90_000)
})

test('what a scrape reads of the log does not grow with the number of consumers', async () => {
  await using world = createWorld()
  const { fabric, store } = world
  for (let i = 0; i < 120; i++) await (await fabric.consume(`consumer-${i}`, {}, () => undefined)).close()
  await fabric.submit(task('greet'), {})
  let readCount = 0
  const readEvents = store.readEvents.bind(store)
  store.readEvents = (...args) => {
    readCount += 1
    return readEvents(...args)
  }

  const lags = await fabric.consumerLags()

  expect(lags).toHaveLength(100)
  expect(readCount).toBe(logPartitions(store.settings).length + 1)
})

test('a webhook that fails, or that an operator has disabled, is seen', async () => {
  await using world = createWorld()
  const session = world.fabric.openSession()
  const change = async (name: string, of: object) => {
    const input = { consumerId: webhookId('default', name), change: of as never }
    expect((await session.runIn('m:0', 'changeWebhook', input)).result.kind).not.toBe('refused')
  }
  const positions = logPartitions(world.store.settings).map(() => ({ position: 0, mark: undefined }))
  for (const name of ['crm', 'erp']) {
    const create = { namespace: 'default', name, positions, secret: { keyId: 'a', sealed: 'b' } }
    await change(name, { kind: 'define', url: 'https://a.example', filter: {}, disableAfterMs: 86_400_000, create })
  }
  await change('crm', { kind: 'failed', error: 'no', isGone: false })
  await change('erp', { kind: 'disable', by: 'ada' })
  await world.fabric.submit(task('greet'), {})
  await world.advance(60_000)

  const text = await scrape(world)

  expect(text).toContain('ff_webhook_failing_seconds{namespace="default",webhook="crm"} 60\n')
  expect(text).toContain('ff_webhook_disabled{namespace="default",webhook="crm"} 0\n')
  expect(text).toContain('ff_webhook_failing_seconds{namespace="default",webhook="erp"} 0\n')
  expect(text).toContain('ff_webhook_disabled{namespace="default",webhook="erp"} 1\n')
  expect(text).toContain('ff_consumer_lag_seconds{kind="webhook",namespace="default",consumer="crm"} 60\n')
  expect(text).toContain('ff_consumer_lag_events{kind="webhook",namespace="default",consumer="erp"} 1\n')
  expect(text).not.toContain('ff_consumer_lag_seconds{kind="webhook",namespace="default",consumer="erp"}')
})

test('the use of a limit is that of its keys together, and its room that of the fullest', async () => {
  await using world = createWorld()
  const { fabric, store, runtime } = world
  await fabric.limits.define('provider', { concurrency: 5, perMinute: 100 })
  await fabric.limits.define('idle', { concurrency: 2 })
  const take = (key: string, needed: number) =>
    fabric.openSession().runIn(limitPartition('provider', store.settings), 'takePermits', {
      requestId: runtime.uuid(),
      workerInstanceId: 'one',
      ttlMs: 30_000,
      requests: [{ limit: 'provider', key, weight: 1, needed, spare: 0, waitingIn: undefined }],
    })
  await take('acme', 3)
  await take('globex', 1)

  const text = await scrape(world)

  expect(text).toContain('ff_limit_held_permits{limit="provider"} 4\n')
  expect(text).toContain('ff_limit_window_used{limit="provider"} 4\n')
  expect(text).toContain('ff_limit_concurrency{limit="provider"} 5\n')
  expect(text).toContain('ff_limit_rate{limit="provider"} 100\n')
  expect(text).toContain('ff_limit_room{limit="provider"} 2\n')
  expect(text).toContain('ff_limit_waiting_keys{limit="provider"} 0\n')
  expect(text).toContain('ff_limit_room{limit="idle"} 2\n')
  expect(text).not.toContain('ff_limit_rate{limit="idle"}')

  await fabric.limits.hold('provider', { for: '1h', by: 'ada', reason: 'it is down' })
  expect(await scrape(world)).toContain('ff_limit_room{limit="provider"} 0\n')
})

test('a budget that is deleted during a scrape is left out, and the others are measured', async () => {
  await using world = createWorld()
  const { fabric, elsewhere, store } = world
  for (const name of ['kept', 'deleted']) {
    await fabric.budgets.define(name, { hard: { cost: 5 } })
    await fabric.budgets.raise(name, { amounts: { cost: 1 }, by: 'ada' })
  }
  const run = store.run.bind(store)
  let isDeleted = false
  store.run = async (partition, calls) => {
    if (!isDeleted && calls.some(({ operation }) => operation === 'describeBudget')) {
      isDeleted = true
      await elsewhere.budgets.delete('deleted', { by: 'ada' })
    }
    return await run(partition, calls)
  }

  const text = await scrape(world)

  expect(isDeleted).toBe(true)
  expect(text).toContain('ff_budget_hard_limit{budget="kept",dimension="cost"} 6\n')
  expect(text).not.toContain('budget="deleted"')
})
