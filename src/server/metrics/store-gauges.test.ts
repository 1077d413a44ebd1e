import { expect, test } from 'vitest'
import { createWorld } from '../../worker/worker.fixture.ts'
import { StoreGauges } from './store-gauges.ts'

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
