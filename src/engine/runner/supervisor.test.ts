import { expect, test } from 'vitest'
import { silentLog, sleep, virtualRuntime } from '../../runtime/index.ts'
import { recordingLog, valueOf } from '../engine.fixture.ts'
import { metricsRegistry } from '../../runtime/metrics.ts'
import { FIRST_RESTART_PAUSE_MS, LONGEST_RESTART_PAUSE_MS, STEADY_RUN_MS, Supervisor } from './supervisor.ts'
import type { Task } from './supervisor.ts'

const GRACE_MS = 5_000

function createSupervisor(log = silentLog) {
  const runtime = virtualRuntime()
  const metrics = metricsRegistry()
  return { runtime, metrics, supervisor: new Supervisor(runtime, log, metrics) }
}

test('a task that crashes is started again after a pause that doubles up to its bound', async () => {
  const log = recordingLog()
  const { runtime, metrics, supervisor } = createSupervisor(log)
  const starts: number[] = []
  supervisor.start({
    name: 'unlucky',
    run() {
      starts.push(runtime.monotonic())
      return Promise.reject(new Error('bad luck'))
    },
  })

  await runtime.advance(100_000)

  const pauses = starts.slice(1).map((start, i) => start - starts[i]!)
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, LONGEST_RESTART_PAUSE_MS, LONGEST_RESTART_PAUSE_MS])
  expect(supervisor.restartCount('unlucky')).toBe(8)
  expect(valueOf(metrics, 'ff_scanner_restarts_total', { scanner: 'unlucky' })).toBe(8)
  expect(log.lines[0]).toMatchObject({
    level: 'error',
    fields: { scanner: 'unlucky', restartCount: 1, pauseMs: 1_000, error: 'Error: bad luck' },
  })
  expect(await supervisor.stop(GRACE_MS)).toBe(0)
  expect(runtime.nextTimerAt()).toBeUndefined()
})

test('a task that ran steadily before it crashed starts again with the first pause', async () => {
  const { runtime, supervisor } = createSupervisor()
  const starts: number[] = []
  const runsMs = [0, 0, STEADY_RUN_MS, 0]
  supervisor.start({
    name: 'moody',
    async run() {
      starts.push(runtime.monotonic())
      await sleep(runtime, runsMs[starts.length - 1] ?? 0)
      throw new Error('enough')
    },
  })

  await runtime.advance(3 * FIRST_RESTART_PAUSE_MS + STEADY_RUN_MS + FIRST_RESTART_PAUSE_MS)

  expect(starts).toEqual([0, 1_000, 3_000, 3_000 + STEADY_RUN_MS + FIRST_RESTART_PAUSE_MS])
  expect(await supervisor.stop(GRACE_MS)).toBe(0)
})

test('a task that crashes disturbs no other', async () => {
  const { runtime, supervisor } = createSupervisor()
  const steady: Task = { name: 'steady', run: (signal) => sleep(runtime, 1_000_000, signal) }
  supervisor.start(steady)
  supervisor.start({ name: 'unlucky', run: () => Promise.reject(new Error('bad luck')) })

  await runtime.advance(10_000)

  expect(supervisor.restartCount('steady')).toBe(0)
  expect(await supervisor.stop(GRACE_MS)).toBe(0)
})

test('stopping waits for its tasks, and then no longer than the grace', async () => {
  const { runtime, supervisor } = createSupervisor()
  supervisor.start({ name: 'prompt', run: (signal) => sleep(runtime, 1_000_000, signal) })
  supervisor.start({
    name: 'slow',
    async run(signal) {
      await sleep(runtime, 1_000_000, signal)
      await sleep(runtime, GRACE_MS - 1)
    },
  })
  supervisor.start({ name: 'deaf', run: () => sleep(runtime, 1_000_000) })

  const stopped = supervisor.stop(GRACE_MS)
  await runtime.advance(GRACE_MS)

  expect(await stopped).toBe(1)
})

test('a task that crashes while it is stopped is not restarted', async () => {
  const { runtime, supervisor } = createSupervisor()
  let starts = 0
  supervisor.start({
    name: 'sulky',
    async run(signal) {
      starts += 1
      await sleep(runtime, 1_000_000, signal)
      throw new Error('not like this')
    },
  })
  await runtime.advance(10)

  expect(await supervisor.stop(GRACE_MS)).toBe(0)
  expect(starts).toBe(1)
})
