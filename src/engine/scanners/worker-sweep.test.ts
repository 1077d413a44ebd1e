import { expect, test } from 'vitest'
import type { WorkerFacts } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { Batcher } from '../../stores/batcher.ts'
import { STORE_PARTITION } from '../../stores/partitions.ts'
import { createWorld, storeWith, valueOf } from '../engine.fixture.ts'
import type { World } from '../engine.fixture.ts'
import { startEngine } from '../engine.ts'
import type { Engine } from '../engine.ts'

const TTL_MS = 5_000
/** Longer than the sweep takes to look after a worker was lost. */
const SOON_MS = 1_500
/** Disables the scanners that are not under test. */
const OTHERS = {
  retention_trimmer: 0,
  index_reconciler: 0,
  dependency_reconciler: 0,
  edge_cancel_reconciler: 0,
  cancel_reconciler: 0,
  flow_projector: 0,
}

const facts: WorkerFacts = {
  workerId: 'worker',
  namespace: 'default',
  lanes: ['main'],
  tasks: [],
  capabilities: [],
  slots: 1,
  runningCount: 0,
  host: 'here',
  pid: 1,
  version: '1.0.0',
  ttlMs: TTL_MS,
  leaseTtlMs: 30_000,
}

function start(world: World, batcher = world.batcher): Engine {
  return startEngine({ batcher, runtime: world.runtime, log: world.log, intervals: OTHERS })
}

async function register(world: World): Promise<void> {
  const input = { workerInstanceId: 'worker-1', bootId: 'boot', facts }
  await world.batcher.run(STORE_PARTITION, 'registerWorker', input)
}

/** A worker that holds one execution in each partition. */
async function busyWorker(world: World, partitions = 1): Promise<void> {
  await register(world)
  for (let partition = 0; partition < partitions; partition++) {
    await world.submit({ partition })
    await world.claim('main', partition)
  }
}

async function phases(world: World): Promise<string[]> {
  return (await world.executions()).map(({ state }) => state.phase)
}

async function unsweptCount(world: World): Promise<number> {
  return (await world.batcher.run(STORE_PARTITION, 'listUnsweptWorkers', {})).result.workers.length
}

test('leases of a worker without heartbeats are revoked long before they expire, in every partition', async () => {
  const world = createWorld(3)
  await using engine = start(world)
  await busyWorker(world, 3)

  await world.runtime.advance(TTL_MS + SOON_MS)

  expect(await phases(world)).toEqual(['eligible', 'eligible', 'eligible'])
  expect(await world.events('lease_revoked')).toHaveLength(3)
  expect(await unsweptCount(world)).toBe(0)
  expect(valueOf(engine.metrics, 'ff_scanner_items_total', { scanner: 'worker_sweep', case: 'lease_revoked' })).toBe(3)
})

test('leases of a worker that sends heartbeats, and renewed ones, are kept', async () => {
  const world = createWorld()
  await using _engine = start(world)
  await busyWorker(world)
  const beat = { workerInstanceId: 'worker-1', bootId: 'boot', runningCount: 1, isDraining: false }
  for (let i = 0; i < 5; i++) {
    await world.runtime.advance(TTL_MS / 2)
    await world.batcher.run(STORE_PARTITION, 'heartbeatWorker', beat)
  }
  const [held] = await world.executions()
  if (held?.state.phase !== 'active') expect.fail('the worker holds it')
  const fence = { leaseId: held.state.lease.id, epoch: held.epoch, attempt: 1 }

  await world.runtime.advance(TTL_MS - 1)
  await world.batcher.run('fp:0', 'renewLease', { executionId: held.id, fence, leaseTtlMs: facts.leaseTtlMs })
  await world.runtime.advance(SOON_MS)

  expect(await phases(world)).toEqual(['active'])
  expect(await world.events('lease_revoked')).toEqual([])
  expect(await unsweptCount(world)).toBe(0)
})

test('two engines revoke each lease once', async () => {
  const world = createWorld(2)
  await using _first = start(world)
  await using _second = start(world, new Batcher(world.store, world.runtime))
  await busyWorker(world, 2)

  await world.runtime.advance(TTL_MS + SOON_MS)

  expect(await phases(world)).toEqual(['eligible', 'eligible'])
  expect(await world.events('lease_revoked')).toHaveLength(2)
})

test('a sweep that was interrupted is finished by the next one', async () => {
  const world = createWorld(2)
  let isDown = true
  const unsteady = storeWith(world.store, {
    run: (partition, calls) => {
      const isSweep = calls.some(({ operation }) => operation === 'revokeWorkerLeases')
      if (isDown && isSweep && partition === 'fp:1') return Promise.reject(new EngineError('store_unavailable'))
      return world.store.run(partition, calls)
    },
  })
  await using _engine = start(world, new Batcher(unsteady, world.runtime))
  await busyWorker(world, 2)

  await world.runtime.advance(TTL_MS + SOON_MS)
  expect(await phases(world)).toEqual(['eligible', 'active'])
  expect(await unsweptCount(world)).toBe(1)
  isDown = false
  await world.runtime.advance(140_000)

  expect(await phases(world)).toEqual(['eligible', 'eligible'])
  expect(await unsweptCount(world)).toBe(0)
})
