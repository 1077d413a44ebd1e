import { expect, test } from 'vitest'
import { flow } from '../client/define/flow.ts'
import { task } from '../client/define/task.ts'
import { parseWorkerOptions } from './worker-options.ts'
import type { WorkerOptions } from './worker-options.ts'

test('a worker without options has sensible settings', () => {
  const { workerId, ...settings } = parseWorkerOptions({})

  expect(settings).toEqual({
    concurrency: 16,
    flows: [],
    keptLevel: 'info',
    prefetch: 16,
    prefetchHoldMs: 1_000,
    leaseTtlMs: 30_000,
    livenessTtlMs: 15_000,
    lanes: undefined,
    capabilities: [],
    refusal: { build: 'unnamed', countLimit: 12, buildLimit: 3 },
    drainTimeoutMs: 30_000,
    killTimeoutMs: 5_000,
    sweepMs: 1_000,
  })
  expect(workerId).toMatch(new RegExp(`^[!-~]+\\.${process.pid}$`))
})

test('a worker prefetches as many executions as it runs by default', () => {
  expect(parseWorkerOptions({ concurrency: 4 }).prefetch).toBe(4)
  expect(parseWorkerOptions({ concurrency: 4, prefetch: 0 }).prefetch).toBe(0)
})

test.each<[keyof WorkerOptions, unknown]>([
  ['build', ''],
  ['refusals', 3],
  ['refusals', { count: 3 }],
  ['concurrency', 0],
  ['concurrency', 1.5],
  ['concurrency', 10_001],
  ['prefetch', -1],
  ['leaseTtl', '999ms'],
  ['leaseTtl', 'soon'],
  ['sweep', 99],
  ['capabilities', 'gpu'],
  ['capabilities', ['a b']],
  ['capabilities', ['a,b']],
  ['drainTimeout', -1],
  ['lanes', []],
  ['lanes', ['tab\there']],
  ['workerId', ''],
])('%s of %j is refused by name', (field, value) => {
  expect(() => parseWorkerOptions({ [field]: value })).toThrow(
    expect.objectContaining({ code: 'invalid_input', detail: expect.objectContaining({ field }) as unknown }) as Error,
  )
})

test('a lane that is named twice is served once', () => {
  expect(parseWorkerOptions({ lanes: ['a', 'b', 'a'] }).lanes).toEqual(['a', 'b'])
})

test('an unknown option is refused by its name', () => {
  expect(() => parseWorkerOptions({ concurency: 4 } as never)).toThrow('concurency')
  expect(() => parseWorkerOptions(null as never)).toThrow('options')
})

test.each([
  ['refusals.limit', { limit: 0 }],
  ['refusals.builds', { builds: 17 }],
])('%s has its bounds', (field, refusals) => {
  expect(() => parseWorkerOptions({ refusals })).toThrow(field)
})

test('flows are definitions, each once', () => {
  const release = flow('release', (f) => f.node('a', task('a')))

  expect(parseWorkerOptions({ flows: [release] }).flows).toEqual([release])
  expect(() => parseWorkerOptions({ flows: ['release'] as never })).toThrow('flows must be a list of flows')
  expect(() => parseWorkerOptions({ flows: [release, release] })).toThrow("contains two flows of the name 'release'")
})
