/** Workers that do not connect to the store, in the list of workers: their registrations, and what extends them. */
import { expect, test } from 'vitest'
import { task } from '../../client/index.ts'
import type { LeaseWorkerReport } from '../../client/leases/lease-workers.ts'
import { STORE_PARTITION } from '../../stores/partitions.ts'
import { createWorld } from '../worker.fixture.ts'
import type { World } from '../worker.fixture.ts'

const mail = task('mail')
const report = { workerId: 'mailer', tasks: [{ name: 'mail' }] }

const workersOf = ({ fabric }: World) => fabric.leases.workers
const listed = async (world: World) => (await world.elsewhere.workers()).items

/** Submits an execution and claims it, as the route does. */
async function claim(world: World) {
  workersOf(world).refresh('mailer-1')
  await world.fabric.submit(mail, undefined, { id: 'a' })
  const options = { tasks: report.tasks, workerId: 'mailer', instanceId: 'mailer-1' }
  const [item] = await world.fabric.leases.claim(options)
  if (item === undefined) throw new Error('nothing was claimed')
  return item
}

test('a worker is listed with its latest report, until it withdraws', async () => {
  await using world = createWorld()
  const workers = workersOf(world)
  expect(await workers.register('mailer-1', report)).toMatchObject({ kind: 'registered', drain: false })
  expect(await listed(world)).toMatchObject([
    { instanceId: 'mailer-1', workerId: 'mailer', lanes: ['default'], slots: 1, running: 0, namespace: 'default' },
  ])
  const busy = { ...report, slots: 8, running: 3, host: 'here', pid: 7, version: '2.1', capabilities: ['gpu'] }
  expect(await workers.register('mailer-1', busy)).toMatchObject({ kind: 'refreshed' })
  await world.advance(1_000)
  workers.refresh('mailer-1')
  await world.settle()
  expect(await listed(world)).toMatchObject([
    { slots: 8, running: 3, host: 'here', pid: 7, version: '2.1', capabilities: ['gpu'] },
  ])
  expect([await workers.unregister('mailer-1'), await workers.unregister('mailer-1')]).toEqual([
    'unregistered',
    'not_registered',
  ])
  expect(await listed(world)).toEqual([])
})

test('calls extend a registration, so its leases are not revoked; without calls they are', async () => {
  await using world = createWorld()
  world.fabric.engine()
  await workersOf(world).register('mailer-1', { ...report, ttl: '5s' })
  const { id, lease } = await claim(world)
  for (let i = 0; i < 10; i++) {
    await world.advance(4_000)
    workersOf(world).refresh('mailer-1')
    await world.fabric.leases.renew(id, lease, '30s')
  }
  expect(await listed(world)).toMatchObject([{ state: 'running' }])
  expect(await world.stateOf(id)).toBe('active')

  await world.advance(5_000)
  expect(await listed(world)).toMatchObject([{ state: 'lost' }])
  await world.advance(3_000)
  expect(await world.stateOf(id)).toBe('waiting')
})

test('a worker that never registers keeps its leases, and one whose registration has lapsed registers again', async () => {
  await using world = createWorld()
  world.fabric.engine()
  const { id, lease } = await claim(world)
  await world.advance(20_000)
  expect(await listed(world)).toEqual([])
  expect(await world.fabric.leases.complete(id, lease, 1)).toBe('completed')

  const workers = workersOf(world)
  await workers.register('mailer-1', { ...report, ttl: '5s' })
  await world.advance(6_000)
  workers.refresh('mailer-1')
  await world.settle()
  expect(await listed(world)).toMatchObject([{ state: 'lost' }])
  expect(await workers.register('mailer-1', report)).toMatchObject({ kind: 'registered' })
  expect(await listed(world)).toMatchObject([{ state: 'running' }])
})

test('a request to drain is returned by heartbeats and by later calls', async () => {
  await using world = createWorld()
  const workers = workersOf(world)
  await workers.register('mailer-1', report)
  expect(workers.refresh('mailer-1')).toBe(false)
  await world.elsewhere.worker('mailer-1').drain({ by: 'ada' })
  await world.advance(1_000)
  workers.refresh('mailer-1')
  await world.settle()
  expect(workers.refresh('mailer-1')).toBe(true)
  expect(await workers.register('mailer-1', { ...report, isDraining: true })).toMatchObject({ drain: true })
  expect(await listed(world)).toMatchObject([{ state: 'draining', drain: { by: 'ada' } }])

  await workers.unregister('mailer-1')
  expect(workers.refresh('mailer-1')).toBe(false)
  expect(await workers.register('mailer-1', report)).toMatchObject({ kind: 'registered', drain: false })
})

test('a registry that is unreachable disturbs no claim', async () => {
  await using world = createWorld()
  world.store.down = STORE_PARTITION
  const { id, lease } = await claim(world)
  expect(await world.fabric.leases.complete(id, lease, 1)).toBe('completed')
  expect(world.linesOf('error')).toEqual([])
})

test('a worker that connects to the store keeps its name, and workers of other namespaces are out of reach', async () => {
  await using world = createWorld()
  const { instanceId } = world.work([mail.handle(() => 'done')])
  await world.settle()
  await expect(workersOf(world).register(instanceId, report)).rejects.toMatchObject({ code: 'instance_in_use' })
  expect(await workersOf(world).unregister(instanceId)).toBe('not_registered')

  await workersOf(world).register('mailer-1', report)
  const { Client } = await import('../../client/index.ts')
  const { workers } = new Client(world.store, world.runtime, { namespace: 'other' }).leases
  await expect(workers.register('mailer-1', report)).rejects.toMatchObject({ code: 'worker_not_found' })
  await expect(workers.unregister('mailer-1')).rejects.toMatchObject({ code: 'worker_not_found' })
  await world.elsewhere.worker('mailer-1').drain()
  await world.advance(1_000)
  expect(workers.refresh('mailer-1')).toBe(false)
  await world.settle()
  expect(workers.refresh('mailer-1')).toBe(false)
})

test.each([
  ['no name', '', { slots: 1 }],
  ['too short a ttl', 'a', { ttl: '4s' }],
  ['too long a ttl', 'a', { ttl: '2h' }],
  ['a process number that no system has', 'a', { pid: 2 ** 31 }],
  ['more lanes than one claim may name', 'a', { lanes: Array.from({ length: 65 }, (_, i) => `lane ${i}`) }],
])('a registration with %s is refused', async (_, instanceId, wrong) => {
  await using world = createWorld()
  const refused = workersOf(world).register(instanceId, { ...report, ...(wrong as Partial<LeaseWorkerReport>) })
  await expect(refused).rejects.toMatchObject({ code: 'invalid_input' })
})
