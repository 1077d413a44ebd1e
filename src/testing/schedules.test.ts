import { expect, test } from 'vitest'
import { task } from '../client/index.ts'
import { schedule } from '../client/define/schedule.ts'
import { testFabric } from './index.ts'
import type { TestFabric } from './index.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** The start of a year. */
const START = Date.parse('2026-01-01T00:00:00Z')

const report = task<{ day: string }, string>('report', { retention: '90d' })

function recording(seen: string[]) {
  return report.handle(({ day }, ctx) => {
    seen.push(ctx.executionId)
    return day
  })
}

async function boundariesOf(t: TestFabric, name: string): Promise<string[]> {
  const found: number[] = []
  let cursor: string | undefined
  do {
    const page = await t.list({ schedule: name, limit: 200, ...(cursor === undefined ? {} : { cursor }) })
    for (const item of page.items) found.push(item.schedule?.at ?? 0)
    cursor = page.cursor
  } while (cursor !== undefined)
  return found.sort((a, b) => a - b).map((at) => new Date(at).toISOString())
}

test('fires at each boundary with its input, far beyond the boundaries that are stored ahead', async () => {
  const seen: string[] = []
  await using t = await testFabric([recording(seen)], { startAt: START })
  await t.schedule('hourly', { task: report, input: { day: 'x' }, cron: '0 * * * *', tags: { kind: 'report' } })

  await t.advance(30 * HOUR + MINUTE)

  const found = await boundariesOf(t, 'hourly')
  expect(found).toEqual(Array.from({ length: 30 }, (_, i) => new Date(START + (i + 1) * HOUR).toISOString()))
  expect(new Set(seen).size).toBe(30)
  const { items } = await t.list({ schedule: 'hourly', limit: 1 })
  expect(items[0]).toMatchObject({
    state: 'completed',
    tags: { kind: 'report' },
    schedule: { name: 'hourly', cause: 'boundary' },
  })
  expect(await t.execution(items[0]?.id ?? '').result()).toBe('x')
})

test('describes what comes next, and why it does not fire', async () => {
  await using t = await testFabric([recording([])], { startAt: START })
  const daily = await t.schedule('daily', { task: report, input: { day: 'x' }, cron: '0 3 * * *' })

  const before = await daily.describe({ next: 10 })
  await daily.pause({ by: 'ada', reason: 'maintenance' })
  await t.advance(5 * DAY)
  const paused = await daily.describe()
  await daily.resume({ by: 'ada' })
  await t.advance(DAY)

  expect(before.next).toHaveLength(10)
  expect(before.next[9]?.at).toBe(START + 9 * DAY + 3 * HOUR)
  expect(before.text).toBe('It fires next at 2026-01-01T03:00:00.000Z, if an engine runs.')
  expect(paused).toMatchObject({ state: 'paused', firedCount: 0 })
  expect(paused.text).toContain('ada paused it at 2026-01-01T00:00:00.000Z: maintenance')
  expect(await boundariesOf(t, 'daily')).toEqual(['2026-01-06T03:00:00.000Z'])
})

test('triggers by hand, backfills a past interval once, and is deleted', async () => {
  await using t = await testFabric([recording([])], { startAt: START })
  const daily = await t.schedule('daily', { task: report, input: { day: 'x' }, cron: '0 3 * * *' })

  const execution = await daily.trigger()
  expect(await execution.result()).toBe('x')
  await t.advance(3 * DAY)
  const interval = { from: START - 2 * DAY, to: START + 2 * DAY }
  const first = await daily.backfill(interval)
  const again = await daily.backfill(interval)
  await daily.delete()
  await t.advance(3 * DAY)

  expect([first.boundaryCount, first.created.length, again.created.length]).toEqual([4, 2, 0])
  const causes = (await t.list({ schedule: 'daily' })).items.map((item) => item.schedule?.cause)
  expect(causes.sort()).toEqual(['backfill', 'backfill', 'boundary', 'boundary', 'boundary', 'trigger'])
  await expect(daily.describe()).rejects.toMatchObject({ code: 'schedule_not_found' })
})

test('declares schedules in code, and deletes only those that the same owner no longer declares', async () => {
  await using t = await testFabric([recording([])], { startAt: START })
  const at = (cron: string) => ({ task: report, input: { day: 'x' }, cron })
  await t.schedule('by-hand', at('0 1 * * *'))
  await t.work([recording([])], { schedules: [schedule('theirs', at('0 2 * * *'))], schedulesOwner: 'others' })
  await t.work([recording([])], {
    schedules: [schedule('kept', at('0 3 * * *')), schedule('gone', at('0 4 * * *'))],
    schedulesOwner: 'reports',
  })

  await t.work([recording([])], { schedules: [schedule('kept', at('0 5 * * *'))], schedulesOwner: 'reports' })

  const { items } = await t.schedules()
  expect(items.map(({ name, owner, cron }) => [name, owner, cron])).toEqual([
    ['by-hand', undefined, '0 1 * * *'],
    ['kept', 'reports', '0 5 * * *'],
    ['theirs', 'others', '0 2 * * *'],
  ])
  const taken = t.work([recording([])], { schedules: [schedule('theirs', at('0 6 * * *'))], schedulesOwner: 'reports' })
  await expect(taken).rejects.toMatchObject({ code: 'schedule_owned' })
})
