/** Schedules of flows, as a program declares and operates them. */
import { expect, expectTypeOf, test } from 'vitest'
import { allOf, flow, task } from '../client/index.ts'
import type { FlowHandle } from '../client/index.ts'
import { schedule } from '../client/define/schedule.ts'
import { testFabric } from './index.ts'

const HOUR = 3_600_000
const START = Date.parse('2026-01-01T00:00:00Z')

const build = task<{ sha: string }, string>('build')
const deploy = task<{ env: string }, string, { image: string }>('deploy')
const smoke = task<undefined, string, { image: string }>('smoke')
const plain = task('plain')

const release = flow('release', { tags: { kind: 'release' } }, (f, input: { sha: string; smoke: boolean }) => {
  const image = f.node('build', build, { input: { sha: input.sha } })
  f.node('smoke', smoke, { after: allOf({ image }), when: () => input.smoke })
  return f.node('deploy', deploy, { after: allOf({ image }), input: { env: 'prod' } })
})

const handlers = [
  build.handle(({ sha }) => `image of ${sha}`),
  deploy.handle(({ env }, ctx) => `${ctx.inputs.image} in ${env}`),
  smoke.handle(() => 'smoke'),
]
const hourly = { flow: release, input: { sha: 'f00', smoke: false }, cron: '0 * * * *' } as const

test('starts a flow at each boundary, with its results, its inputs and its conditions', async () => {
  await using t = await testFabric(handlers, { flows: [release], startAt: START })
  const handle = await t.schedule('hourly', hourly)
  expectTypeOf<ReturnType<typeof handle.trigger>>().resolves.toEqualTypeOf<FlowHandle<string>>()

  await t.advance(2 * HOUR + 1_000)

  const { items } = await t.flows({ schedule: 'hourly' })
  expect(items.map(({ state, schedule: origin }) => [state, origin?.name, origin?.at, origin?.cause])).toEqual([
    ['completed', 'hourly', START + 2 * HOUR, 'boundary'],
    ['completed', 'hourly', START + HOUR, 'boundary'],
  ])
  expect(items[0]).toMatchObject({ name: 'release', tags: { kind: 'release' }, counts: { completed: 2, skipped: 1 } })
  expect(await t.flow(items[0]?.id ?? '', release, hourly.input).result()).toBe('image of f00 in prod')
  expect(
    await t
      .flow(items[1]?.id ?? '')
      .member('build')
      .result(),
  ).toBe('image of f00')
  expect((await t.list({ schedule: 'hourly' })).items).toHaveLength(6)
  const description = await handle.describe()
  expect(description).toMatchObject({ starts: 'flow', task: 'release', lane: undefined, firedCount: 2 })
  expect(description.fired?.flowId).toBe(items[0]?.id)
  expect(description.latest.at(-1)).toMatchObject({ flowId: items[0]?.id, state: 'completed', outcome: 'completed' })
})

test('is triggered by hand and backfilled, also through a handle that knows only its name', async () => {
  await using t = await testFabric(handlers, { flows: [release], startAt: START })
  await t.schedule('hourly', { ...hourly, from: START - 10 * HOUR })

  const started = await t.schedule('hourly').trigger()
  const result = started.result()
  await t.advance(1_000)
  const past = { from: START - 3 * HOUR, to: START }
  const filled = await t.schedule('hourly').backfill(past)
  await t.advance(1_000)
  const again = await t.schedule('hourly').backfill(past)

  expect(started.id).toMatch(/^f/)
  expect(await result).toEqual({ deploy: 'image of f00 in prod' })
  expect([filled.boundaryCount, filled.created.length, again.created]).toEqual([3, 3, []])
  const causes = (await t.flows({ schedule: 'hourly' })).items.map(({ schedule: origin, state }) => [
    origin?.cause,
    state,
  ])
  expect(causes).toEqual([...Array.from({ length: 3 }, () => ['backfill', 'completed']), ['trigger', 'completed']])
})

test('is declared in code, and an equal definition changes nothing', async () => {
  await using t = await testFabric(handlers, { flows: [release], startAt: START })

  const declare = async (sha: string) =>
    await t.declareSchedules([schedule('hourly', { ...hourly, input: { sha, smoke: false } })], 'releases')

  const kinds = [
    await declare('f00'),
    await declare('f00'),
    await declare('f01'),
    await t.declareSchedules([], 'releases'),
  ]

  expect(kinds).toEqual([
    { created: ['hourly'], changed: [], deleted: [] },
    { created: [], changed: [], deleted: [] },
    { created: [], changed: ['hourly'], deleted: [] },
    { created: [], changed: [], deleted: ['hourly'] },
  ])
})

test('refuses what no boundary could start, and says why', async () => {
  await using t = await testFabric(handlers, { startAt: START })
  const wide = flow('wide', (f) => {
    for (let i = 0; i < 51; i++) f.node(`part-${i}`, plain)
  })
  const heavy = flow('heavy', (f) => {
    for (let i = 0; i < 3; i++) f.node(`part-${i}`, build, { input: { sha: 'x'.repeat(500_000) } })
  })

  await expect(t.schedule('wide', { flow: wide, cron: '0 * * * *' })).rejects.toThrow('at most 50 nodes')
  await expect(t.schedule('heavy', { flow: heavy, cron: '0 * * * *' })).rejects.toThrow('1048576 bytes together')
  const both = { ...hourly, task: smoke } as never
  await expect(t.schedule('both', both)).rejects.toThrow('either a task or a flow')
  await expect(t.schedule('retry', { ...hourly, retry: 3 } as never)).rejects.toThrow('retry')
  await expect(t.schedule('none', { flow: 'release', cron: '0 * * * *' } as never)).rejects.toThrow('must be a flow')
})
