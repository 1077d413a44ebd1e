/**
 * Work of every kind that is under way while its store is backed up, and is lost with its processes and its server afterwards. The
 * restored store must complete all of it, without work that was recorded, and readers must notice that the log is another one.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { z } from 'zod'
import { KeyRing, allOf, approval, budget, createFabric, flow, limit, task } from '../../src/index.ts'
import type { ExecutionHandle, Fabric, FabricOptions, Handler } from '../../src/index.ts'
import { silentLog } from '../../src/runtime/index.ts'
import { until } from '../servers/until.ts'
import type { Workplace } from './workplace.ts'

/** How a store is copied and put back, as the page of operations describes it. */
export interface Backup {
  /** Copies the store while programs use it. */
  readonly save: () => Promise<unknown>
  /** Loses the server or the file, puts the copy where there was no store before, and returns its location. */
  readonly restore: () => Promise<string>
}

const LIMIT_MS = 60_000
const options = { leaseTtl: '1s', livenessTtl: '1s', sweep: '100ms' } as const

const narrow = limit('narrow', { concurrency: 1 })
const money = budget('money', { hard: { cost: 100 } })

const quick = task<number, number>('quick')
const held = task('held', { input: z.string(), output: z.string(), frames: { word: z.string() } })
const single = task<string, string>('single', { limits: [narrow] })
const spender = task<undefined, string>('spender', { budgets: [money] })
const reviewed = task<undefined, string>('reviewed')
const napping = task<undefined, string>('napping')
const parent = task<undefined, string>('parent')
const unsteady = task<undefined, string>('unsteady', {
  retry: { attempts: 500, backoff: { kind: 'fixed', delay: '500ms' }, jitter: false },
})
const join = task<undefined, string, { middle: string }>('join')
const pipeline = flow('pipeline', (f, input: string) => {
  const first = f.node('first', quick, { input: 1 })
  const middle = f.node('middle', held, { after: allOf(first), input })
  return f.node('last', join, { after: allOf(middle) })
})

/** The processes of a store: those that are lost hold their work until they are closed. */
class Office {
  readonly #isHeld: boolean
  /** The steps that were computed, by the execution or the name that they were given. */
  readonly computed: string[] = []
  /** The executions whose handlers are held. */
  readonly holding = new Set<string>()

  constructor(isHeld: boolean) {
    this.#isHeld = isHeld
  }

  async hold(name: string, signal: AbortSignal): Promise<void> {
    if (!this.#isHeld) return
    this.holding.add(name)
    await sleep(10 * LIMIT_MS, undefined, { signal })
  }

  handlers(): Handler[] {
    return [
      quick.handle((number) => number * 2),
      held.handle(async (name, ctx) => {
        const answer = await ctx.step('once', async (step) => {
          this.computed.push(name)
          await step.frames.word('written')
          return `answer to ${name}`
        })
        await this.hold(name, ctx.signal)
        return answer
      }),
      single.handle(async (name, ctx) => {
        await this.hold(name, ctx.signal)
        return `alone: ${name}`
      }),
      spender.handle(async (_, ctx) => {
        await ctx.spend({ cost: 7 }, { key: 'paid once' })
        await this.hold('spender', ctx.signal)
        return 'spent'
      }),
      reviewed.handle(async (_, ctx) => {
        await ctx.step('draft', () => void this.computed.push('draft'))
        const review = await ctx.waitFor('review', approval())
        return review.ok ? `approved by ${review.votes.map(({ by }) => by.identity).join()}` : review.reason
      }),
      napping.handle(async (_, ctx) => {
        await ctx.step('before', () => void this.computed.push('nap'))
        await ctx.sleep('nap', '2s')
        return 'awake'
      }),
      parent.handle(async (_, ctx) => await ctx.call('child', held, 'child')),
      unsteady.handle(() => {
        if (this.#isHeld) throw new Error('The service is down.')
        return 'mended'
      }),
      join.handle((_, { inputs }) => `after ${inputs.middle}`),
    ]
  }
}

/** What a subscription returns up to the present end of the log: ids of executions, or the kinds of other items. */
async function read(
  fabric: Fabric,
  from: { readonly cursor: string } | { readonly fromStart: true },
): Promise<string[]> {
  const seen: string[] = []
  for await (const item of fabric.subscribe({ ...from, types: ['execution_created'], follow: false })) {
    seen.push(item.kind === 'event' ? item.event.executionId : item.kind)
  }
  return seen
}

/** Runs a consumer of the ends of executions until the given ones are among `handled`. */
async function consumeUntil(fabric: Fabric, ids: readonly string[], handled: Set<string>): Promise<void> {
  const filter = { types: ['execution_ended'] } as const
  const consume = { fromStart: true, ttl: '1s' } as const
  await using _consumer = await fabric.consume(
    'audit',
    filter,
    ({ executionId }) => void handled.add(executionId),
    consume,
  )
  await until(
    'the consumer has handled the ends',
    LIMIT_MS,
    async () => ids.every((id) => handled.has(id)) || undefined,
  )
}

/** The frames of one execution that are kept so far. */
async function wordsOf(fabric: Fabric): Promise<unknown[]> {
  const words: unknown[] = []
  for await (const item of fabric.execution('held').frames({ follow: false })) {
    if (item.kind === 'frame') words.push(item.value)
  }
  expect(words).not.toEqual([])
  return words
}

/** Submits one of each kind, and returns what each must return in the end. */
async function submitAll(fabric: Fabric): Promise<Map<string, unknown>> {
  const due = new Map<string, unknown>()
  const add = async (execution: Promise<{ readonly id: string }>, result: unknown) => {
    const { id } = await execution
    due.set(id, result)
    return id
  }
  await add(fabric.submit(held, 'held', { id: 'held' }), 'answer to held')
  await add(fabric.submit(single, 'first'), 'alone: first')
  await add(fabric.submit(single, 'second'), 'alone: second')
  await add(fabric.submit(spender, undefined), 'spent')
  await add(fabric.submit(reviewed, undefined, { id: 'by link' }), 'approved by ada')
  await add(fabric.submit(reviewed, undefined, { id: 'by name' }), 'approved by bob')
  await add(fabric.submit(napping, undefined, { id: 'nap' }), 'awake')
  await add(fabric.submit(parent, undefined), 'answer to child')
  await add(fabric.submit(unsteady, undefined), 'mended')
  await add(fabric.submit(quick, 21, { delay: '2s' }), 42)
  return due
}

/** Submits until it is stopped, so that a backup is taken under load. `acknowledged` grows with each submit that was stored. */
function submitQuick(fabric: Fabric) {
  const acknowledged = new Map<string, unknown>()
  const stop = new AbortController()
  const stopped = (async () => {
    for (let number = 0; !stop.signal.aborted; number++) {
      const { id } = await fabric.submit(quick, number)
      acknowledged.set(id, number * 2)
    }
  })()
  return {
    acknowledged,
    async stop() {
      stop.abort()
      await stopped
    },
  }
}

async function untilUnderWay(fabric: Fabric, office: Office): Promise<void> {
  await until('work of every kind is under way', LIMIT_MS, async () => {
    const waits = await Promise.all(['by link', 'by name'].map((id) => fabric.describe(id)))
    const isHeld = ['held', 'middle', 'child', 'spender'].every((name) => office.holding.has(name))
    const isAlone = office.holding.has('first') || office.holding.has('second')
    // Its step is recorded once it sleeps.
    const hasSlept = ['suspended', 'completed'].includes((await fabric.describe('nap')).state)
    return (isHeld && isAlone && hasSlept && waits.every(({ state }) => state === 'suspended')) || undefined
  })
}

export async function checkRestore(location: string, place: Workplace, { save, restore }: Backup): Promise<void> {
  const settings: FabricOptions = { log: silentLog, keys: KeyRing.begin(Date.now()) }
  const before = new Office(true)
  const handled = new Set<string>()
  let due: Map<string, unknown>
  let late: ExecutionHandle<number>
  let lateCursor: string
  let link: string
  let words: unknown[]
  {
    await using fabric = await createFabric(location, settings)
    await fabric.work(before.handlers(), { ...options, drainTimeout: '0s', killTimeout: '1s' })
    const firstDue = await submitAll(fabric)
    await fabric.submit(pipeline, 'middle', { id: 'pipeline' })
    await fabric.schedule('ticks', { task: quick, input: 5, every: '1s' })
    await untilUnderWay(fabric, before)
    link = await fabric.reissue('by link', 'review', { for: 'ada' })
    words = await wordsOf(fabric)
    const load = submitQuick(fabric)
    await until('there is a load', LIMIT_MS, async () => load.acknowledged.size > 20 || undefined)
    await consumeUntil(fabric, [...load.acknowledged.keys()].slice(0, 10), handled)

    due = new Map([...firstDue, ...load.acknowledged])
    await save()
    await load.stop()

    // The copy does not have this, and the readers have read it.
    late = await fabric.submit(quick, 4, { id: 'late' })
    await late.result()
    lateCursor = await fabric.currentCursor()
  }

  const restored = await restore()
  {
    const after = new Office(false)
    await using fabric = await createFabric(restored, settings)
    const events = await read(fabric, { cursor: lateCursor })
    expect(events).toContain('log_replaced')
    // A partition that lost nothing continues, and the one that lost an event begins anew.
    const partition = late.id.split('-', 1)[0]
    expect(events).toEqual(expect.arrayContaining([...due.keys()].filter((id) => id.split('-', 1)[0] === partition)))
    expect(events).not.toContain(late.id)

    await fabric.work(after.handlers(), options)
    await fabric.answer(link, 'approve')
    await fabric.signal('by name', 'approve', undefined, { waitpoint: 'review', by: 'bob' })
    for (const [id, result] of due) expect([id, await fabric.execution(id).result()]).toEqual([id, result])
    expect(await fabric.flow('pipeline').wait()).toMatchObject({ outcome: 'completed' })
    await fabric.schedule('ticks').delete()

    // What was recorded before the backup was not computed again.
    expect(after.computed).toEqual([])
    expect(await wordsOf(fabric)).toEqual(words)
    const { keys } = await fabric.budgets.describe('money')
    expect(keys[0]?.dimensions).toMatchObject([{ dimension: 'cost', spent: 7 }])
    // What was submitted later is unknown, so submitting it again creates it.
    const again = await fabric.submit(quick, 4, { id: 'late' })
    expect([again.id, again.created, await again.result()]).toEqual([late.id, 'created', 8])
    await consumeUntil(fabric, [...due.keys(), late.id], handled)
  }
  const { code, stdout } = await place.run(['doctor', '--json', '--store', restored])
  const { findings } = JSON.parse(stdout) as { findings: { verdict: string; check: string; text: string }[] }
  expect(findings.filter(({ verdict }) => verdict === 'problem')).toEqual([])
  expect(code).toBe(0)
}
