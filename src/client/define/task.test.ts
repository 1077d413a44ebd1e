import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { overridePolicy } from './task-settings.ts'
import { servedVersions, task } from './task.ts'
import type { TaskOptions } from './task.ts'
import type { AnyInputs } from './upstreams.ts'

test('a task without settings uses the default lane, one attempt and a retention of a day', () => {
  expect(task('plain').policy).toEqual({
    lane: 'default',
    priority: 0,
    retry: expect.objectContaining({ attempts: 1 }) as unknown,
    attemptTimeoutMs: undefined,
    totalTimeoutMs: undefined,
    retentionMs: 86_400_000,
    needs: [],
  })
})

test('settings of a submit override those of the task', () => {
  const { policy } = task('t', {
    lane: 'a',
    priority: 5,
    retry: { attempts: 4 },
    timeout: { attempt: '1m', total: '1h' },
    retention: '2d',
  })

  expect(overridePolicy(policy, {})).toEqual(policy)
  expect(overridePolicy(policy, { lane: 'b', timeout: { attempt: 5_000 } })).toMatchObject({
    lane: 'b',
    priority: 5,
    retry: { attempts: 4 },
    attemptTimeoutMs: 5_000,
    totalTimeoutMs: 3_600_000,
    retentionMs: 172_800_000,
  })
})

test('a retention may differ by outcome', () => {
  const { policy } = task('t', { retention: { completed: '1h', failed: '30d' } })

  expect(policy).toMatchObject({ retentionMs: 86_400_000, retentions: { completed: 3_600_000, failed: 2_592_000_000 } })
  expect(overridePolicy(policy, { retention: { failed: 5 } }).retentions).toMatchObject({
    completed: 3_600_000,
    failed: 5,
  })
  expect(overridePolicy(policy, { retention: 7 })).toMatchObject({ retentionMs: 7, retentions: undefined })
})

test.each<[string, string, unknown]>([
  ['task name', '', {}],
  ['task name', 'tab\there', {}],
  ['lane', 't', { lane: 'a\u001fb' }],
  ['priority', 't', { priority: 9_001 }],
  ['retry.attempts', 't', { retry: { attempts: 0 } }],
  ['timeout.attempt', 't', { timeout: { attempt: 0 } }],
  ['timeout.total', 't', { timeout: { total: 'soon' } }],
  ['retention', 't', { retention: -1 }],
  ['retention.failed', 't', { retention: { failed: 'ever' } }],
  ['retention', 't', { retention: { lost: '1h' } }],
  ['signals', 't', { signals: { __timeout: z.string() } }],
  ['signals', 't', { signals: z.string() }],
  ['signals.review', 't', { signals: { review: 7 } }],
])('a wrong %s is refused when the task is defined', (field, name, options) => {
  expect(() => task(name, options as TaskOptions<never, never>)).toThrow(
    expect.objectContaining({ detail: expect.objectContaining({ field }) as unknown }) as Error,
  )
})

test('a handler is a function, with options before it if it has any', () => {
  const plain = task<number, number>('t')

  expect(plain.handle({ concurrency: 4 }, (n) => n).options).toEqual({ concurrency: 4 })
  expect(plain.handle((n) => n).options).toEqual({})
  expect(() => plain.handle({ concurrency: 0 }, (n) => n)).toThrow("concurrency of task 't'")
  expect(() => plain.handle('not a function' as never)).toThrow("handler of task 't' must be a function")
})

test('types follow from the schemas on both sides', () => {
  const typed = task('t', {
    input: z.object({ at: z.coerce.number<string>() }),
    output: z.string().transform((text) => text.length),
  })

  typed.handle((input) => {
    expectTypeOf(input).toEqualTypeOf<{ at: number }>()
    return 'text'
  })
  expectTypeOf<NonNullable<typeof typed.types>>().toEqualTypeOf<{
    readonly input: { at: string }
    readonly returned: string
    readonly output: number
    readonly given: AnyInputs
  }>()
})

test('a handler serves its own version, 15 before it and executions without a version, unless it names them', () => {
  const versionsOf = (version: number | undefined, versions?: readonly number[]) =>
    servedVersions(
      task('t', version === undefined ? {} : { version }).handle(versions === undefined ? {} : { versions }, () => 1),
    )

  expect(versionsOf(undefined)).toEqual([undefined])
  expect(versionsOf(2)).toEqual([undefined, 2, 1])
  expect(versionsOf(40)).toEqual([undefined, ...Array.from({ length: 16 }, (_, i) => 40 - i)])
  expect(versionsOf(5, [0, 3, 3])).toEqual([undefined, 3])
})

test.each([0, -1, 1.5, '2', 1_000_001])('a version of %o is refused', (version) => {
  expect(() => task('t', { version: version as number })).toThrow('version')
})

test.each([[[]], [[-1]], [['1']], [5], [Array.from({ length: 17 }, (_, i) => i)]])(
  'a handler of versions %o is refused',
  (versions) => {
    expect(() => task('t').handle({ versions: versions as number[] }, () => 1)).toThrow('versions')
  },
)
