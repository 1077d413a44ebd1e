import { expect, test } from 'vitest'
import { approval, task } from '../../client/index.ts'
import { createWorld } from '../worker.fixture.ts'
import type { World } from '../worker.fixture.ts'

const release = task<null, string[]>('release')

/** Calls that a worker makes for a leased execution. */
const OWN_CALLS: readonly string[] = [
  'recordStep',
  'suspendExecution',
  'readSteps',
  'readSignals',
  'createWaitpoint',
  'completeExecution',
]

/** As many calls as there are steps and waits, and the end. */
const LEAST_CALLS = 10

interface Effects {
  /** How often the work of each step was started. */
  readonly begun: Map<string, number>
  /** The values that `ctx.now` returned. */
  readonly moments: Set<number>
}

/** Five steps, one of which fails at first, a moment, a sleep and an approval. */
function releaseHandler({ begun, moments }: Effects) {
  const begin = (name: string) => void begun.set(name, (begun.get(name) ?? 0) + 1)
  return release.handle(async (_, context) => {
    const done: string[] = []
    const step = async (name: string) => {
      done.push(
        await context.step(name, () => {
          begin(name)
          return name
        }),
      )
    }
    moments.add(await context.now())
    await step('build')
    await Promise.all([step('unit'), step('browser')])
    const retry = { attempts: 3, backoff: { kind: 'fixed', delay: '10s' }, jitter: false } as const
    await context.step('upload', { retry }, ({ attempt }) => {
      begin(`upload ${attempt}`)
      if (attempt === 1) throw new Error('the network is down')
    })
    await context.sleep('settle', '5s')
    const approved = await context.waitFor('go', approval({ need: 2 }))
    if (!approved.ok) throw new Error(approved.reason)
    await step('publish')
    return [...done, ...approved.votes.map(({ by }) => by.identity)]
  })
}

interface Cut {
  readonly at: number
  readonly when: 'before' | 'after'
}

/** Crashes the worker at one of its calls, before or after the call takes effect. Returns whether there was such a call. */
async function runWithCut(world: World, effects: Effects, cut: Cut) {
  world.fabric.engine()
  const start = () => world.work([releaseHandler(effects)], { leaseTtl: '2s' })
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
  const handle = await world.fabric.submit(release, null)
  await world.advance(60_000)
  for (const by of ['ada', 'bob'])
    await world.elsewhere.signal(handle.id, 'approve', undefined, { waitpoint: 'go', by })
  await world.advance(20_000)
  return { isCut, result: await handle.result() }
}

test('a handler that is cut off at any of its calls comes to the same result, and repeats only what was not recorded', async () => {
  const steps = ['build', 'unit', 'browser', 'upload 1', 'upload 2', 'publish']
  for (const when of ['before', 'after'] as const) {
    let at = 0
    for (let isCut = true; isCut; at++) {
      await using world = createWorld()
      const effects: Effects = { begun: new Map(), moments: new Set() }
      const run = await runWithCut(world, effects, { at, when })
      isCut = run.isCut
      expect(run.result).toEqual(['build', 'unit', 'browser', 'publish', 'ada', 'bob'])
      expect([...effects.begun.keys()].sort()).toEqual([...steps].sort())
      const repeated = [...effects.begun.values()].filter((count) => count > 1)
      // The two that run side by side may both be under way, and what is recorded is not repeated.
      expect(repeated.length, `cut ${when} call ${at}`).toBeLessThanOrEqual(when === 'before' ? 2 : 0)
      expect(Math.max(...effects.begun.values())).toBeLessThanOrEqual(2)
      expect(effects.moments.size).toBe(1)
    }
    expect(at).toBeGreaterThan(LEAST_CALLS)
  }
})
