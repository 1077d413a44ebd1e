import { expect, test } from 'vitest'
import { PermanentError, task } from '../../client/index.ts'
import { createWorld } from '../worker.fixture.ts'
import type { World } from '../worker.fixture.ts'

const parent = task<null>('parent')
const part = task<string, string>('part')

/** Calls that a worker makes for a leased execution. */
const OWN_CALLS: readonly string[] = [
  'startChildren',
  'joinChildren',
  'recordStep',
  'readSteps',
  'completeExecution',
  'failExecution',
]

/** As many calls as the parent and its children make at least. */
const LEAST_CALLS = 12

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** A call, a failure that is caught, children of two turns, and a race. */
function handlers(ids: Map<string, Set<string>>) {
  return [
    part.handle((name, ctx) => {
      ids.set(name, (ids.get(name) ?? new Set()).add(ctx.executionId))
      if (name === 'bad') throw new PermanentError('broken')
      return name
    }),
    parent.handle(async (_, ctx) => {
      const called = await ctx.call('called', part, 'called')
      const failed = await ctx.call('bad', part, 'bad').catch(messageOf)
      const early = await ctx.spawn('early', part, 'early')
      await ctx.step('between', () => 1)
      const all = await ctx.all([early, ctx.spawn('late', part, 'late')])
      const { name } = await ctx.any([ctx.spawn('one', part, 'one')])
      return [called, failed, ...all, name]
    }),
  ]
}

interface Cut {
  readonly at: number
  readonly when: 'before' | 'after'
}

/** Crashes the worker at one of its calls, before or after the call takes effect. Returns whether there was such a call. */
async function runWithCut(world: World, ids: Map<string, Set<string>>, cut: Cut) {
  world.fabric.engine()
  const start = () => world.work(handlers(ids), { leaseTtl: '2s' })
  let worker = start()
  let callCount = 0
  let isCut = false
  world.store.plan = ({ operation }) => {
    if (isCut || !OWN_CALLS.includes(operation)) return undefined
    callCount += 1
    if (callCount <= cut.at) return undefined
    isCut = true
    worker.crash()
    worker = start()
    return cut.when
  }
  const handle = await world.fabric.submit(parent, null)
  await world.advance(20_000)
  return { isCut, result: await handle.result() }
}

test.each(['before', 'after'] as const)(
  'a worker that is cut off %s any of its calls starts no child twice, and the result is the same',
  async (when) => {
    let at = 0
    for (let isCut = true; isCut; at++) {
      await using world = createWorld()
      const ids = new Map<string, Set<string>>()
      const run = await runWithCut(world, ids, { at, when })
      isCut = run.isCut
      expect(run.result, `cut ${when} call ${at}`).toEqual(['called', 'broken', 'early', 'late', 'one'])
      expect([...ids].map(([name, { size }]) => `${name} ${size}`).sort(), `cut ${when} call ${at}`).toEqual([
        'bad 1',
        'called 1',
        'early 1',
        'late 1',
        'one 1',
      ])
    }
    expect(at).toBeGreaterThan(LEAST_CALLS)
  },
)

test('replies that are lost start no child twice', async () => {
  await using world = createWorld()
  let lost = 0
  world.store.plan = ({ operation }) => {
    if ((operation !== 'startChildren' && operation !== 'joinChildren') || lost++ % 2 === 1) return undefined
    return 'after'
  }
  const ids = new Map<string, Set<string>>()
  world.work(handlers(ids))
  const handle = await world.fabric.submit(parent, null)
  await world.advance(60_000)

  expect(await handle.result()).toEqual(['called', 'broken', 'early', 'late', 'one'])
  expect([...ids.values()].every(({ size }) => size === 1)).toBe(true)
})

test(
  'a handler waits for 10,000 children, also for a quorum of all, and starts no more',
  { timeout: 120_000 },
  async () => {
    await using world = createWorld()
    const count = 10_000
    const child = task<number, number>('child')
    world.work(
      [
        child.handle((n) => n),
        parent.handle(async (_, ctx) => {
          const children = Array.from({ length: count }, (_, n) => ctx.spawn(`n:${n}`, child, n))
          const winners = await ctx.quorum(count, children)
          const numbers = await ctx.all(children)
          const oneMore = await ctx.spawn('one more', child, 0).catch(messageOf)
          return [numbers.reduce((sum, n) => sum + n, 0), new Set(winners.map(({ value }) => value)).size, oneMore]
        }),
      ],
      { concurrency: 200, prefetch: 200 },
    )
    const handle = await world.fabric.submit(parent, null)
    await world.settle()

    const [sum, winnerCount, oneMore] = (await handle.result()) as [number, number, string]
    expect(winnerCount).toBe(count)
    expect(sum).toBe((count * (count - 1)) / 2)
    expect(oneMore).toContain("The children 'one more' were not started.")
  },
)
