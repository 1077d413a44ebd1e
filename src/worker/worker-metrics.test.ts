import { expect, test } from 'vitest'
import { signal, task } from '../client/index.ts'
import { valueOf } from '../engine/engine.fixture.ts'
import { sleep } from '../runtime/index.ts'
import type { MetricSample, MetricsRegistry } from '../runtime/index.ts'
import { createWorld } from './worker.fixture.ts'

const job = task<{ ms: number; fails?: boolean }, string>('job', {
  retry: { attempts: 2, backoff: { kind: 'fixed', delay: '1s' } },
})
const labels = { task: 'job', lane: 'default' }

function sumOf(metrics: MetricsRegistry, name: string): number | undefined {
  const sample = metrics.snapshot().find((one: MetricSample) => one.metric.name === name)
  return sample !== undefined && 'sum' in sample ? sample.sum : undefined
}

test('a process measures what it submits, starts and ends', async () => {
  await using world = createWorld()
  const { metrics } = world.fabric
  await world.fabric.submit(job, { ms: 500 }, { id: 'one' })
  await world.fabric.submit(job, { ms: 500 }, { id: 'one' })
  await world.advance(2_000)
  world.work([job.handle(({ ms }) => sleep(world.runtime, ms).then(() => 'done'))])
  await world.advance(1_000)

  expect(valueOf(metrics, 'ff_executions_submitted_total', labels)).toBe(1)
  expect(valueOf(metrics, 'ff_attempts_started_total', labels)).toBe(1)
  expect(valueOf(metrics, 'ff_attempts_ended_total', { ...labels, outcome: 'completed' })).toBe(1)
  expect(sumOf(metrics, 'ff_attempt_start_latency_seconds')).toBe(2)
  expect(sumOf(metrics, 'ff_attempt_duration_seconds')).toBe(0.5)
})

test('a retry is measured from the end of its delay, and each run by its outcome', async () => {
  await using world = createWorld()
  const { metrics } = world.fabric
  const handler = job.handle(async (_, ctx) => {
    if (ctx.attempt === 1) throw new Error('not yet')
    await ctx.waitFor(signal('go'))
    return 'done'
  })
  world.work([handler])
  const execution = await world.fabric.submit(job, { ms: 0 })
  await world.advance(2_000)
  await execution.signal('go')
  await world.advance(100)

  expect(await execution.state()).toBe('completed')
  expect(valueOf(metrics, 'ff_attempts_started_total', labels)).toBe(3)
  for (const outcome of ['retry_scheduled', 'parked', 'completed']) {
    expect(valueOf(metrics, 'ff_attempts_ended_total', { ...labels, outcome })).toBe(1)
  }
  expect(sumOf(metrics, 'ff_attempt_start_latency_seconds')).toBeLessThan(1)
})

test('renewals without an answer, lost leases and batches that fail are counted', async () => {
  await using world = createWorld()
  const { metrics } = world.fabric
  world.work([job.handle(() => sleep(world.runtime, 60_000).then(() => 'late'))], { leaseTtl: 3_000 })
  await world.fabric.submit(job, { ms: 0 })
  await world.advance(1_500)
  expect(valueOf(metrics, 'ff_lease_renewals_total', { result: 'renewed' })).toBeGreaterThan(0)

  world.store.plan = () => 'before'
  await world.advance(5_000)

  expect(valueOf(metrics, 'ff_lease_renewals_total', { result: 'unanswered' })).toBeGreaterThan(0)
  expect(valueOf(metrics, 'ff_leases_lost_total', { code: 'lease_expired' })).toBe(1)
  expect(valueOf(metrics, 'ff_store_errors_total', { code: 'store_unavailable' })).toBeGreaterThan(0)
})
