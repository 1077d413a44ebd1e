import { expect, test } from 'vitest'
import { task } from '../../client/index.ts'
import type { TaskContext } from '../../client/index.ts'
import { createWorld } from '../worker.fixture.ts'
import type { World } from '../worker.fixture.ts'

const work = task<null>('work')

/** A promise that the test resolves. */
function gate(): { readonly isOpen: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  return { isOpen: promise.then(() => undefined), open: () => resolve(undefined) }
}

/** Work that runs until its signal aborts. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')))
  })
}

/** A handler with an external effect, recorded by idempotency key. */
function payingHandler(asked: string[], hangs: () => Promise<void> = () => Promise.resolve()) {
  return work.handle(async (_, context) => {
    const order = await context.step('order', () => ({ id: 17 }))
    const paid = await context.step('pay', async (step) => {
      asked.push(step.idempotencyKey)
      await hangs()
      return asked.length
    })
    return { ...order, paid }
  })
}

test('work that was done and not recorded is done again with the same key', async () => {
  await using world = createWorld()
  world.fabric.engine()
  const asked: string[] = []
  const first = world.work([payingHandler(asked, () => new Promise(() => undefined))], { leaseTtl: '1s' })
  const handle = await world.fabric.submit(work, null)
  await world.settle()
  first.crash()
  world.work([payingHandler(asked)])
  await world.advance(5_000)

  expect(await handle.result()).toEqual({ id: 17, paid: 2 })
  expect(asked).toHaveLength(2)
  expect(new Set(asked).size).toBe(1)
  expect(world.store.callsOf('recordStep').map(({ input }) => input)).toMatchObject([
    { name: 'order' },
    { name: 'pay' },
  ])
})

test('a lost reply records a step once, and the handler continues with the recorded value', async () => {
  await using world = createWorld()
  let lost = 0
  world.store.plan = ({ operation }) => {
    if (operation !== 'recordStep' || lost === 2) return undefined
    lost += 1
    return 'after'
  }
  const asked: string[] = []
  world.work([payingHandler(asked)])
  const handle = await world.fabric.submit(work, null)
  await world.advance(10_000)

  expect(await handle.result()).toEqual({ id: 17, paid: 1 })
  expect(asked).toHaveLength(1)
  const names: string[] = []
  for await (const { name } of world.fabric.steps(handle.id)) names.push(name)
  expect(names).toEqual(['order', 'pay'])
})

test('a lost reply to a failure leaves it the same failure', async () => {
  await using world = createWorld()
  let isLost = false
  world.store.plan = ({ operation }) => {
    if (operation !== 'recordStep' || isLost) return undefined
    isLost = true
    return 'after'
  }
  world.work([
    work.handle((_, context) =>
      context
        .step('book', () => Promise.reject(new Error('sold out')))
        .catch((error: unknown) => (error as Error).message),
    ),
  ])
  const handle = await world.fabric.submit(work, null)
  await world.advance(10_000)

  expect(await handle.result()).toBe('sold out')
})

test('tries of a step that waits to be tried again survive its worker', async () => {
  await using world = createWorld()
  world.fabric.engine()
  const tries: number[] = []
  const retrying = work.handle((_, context) =>
    context.step('ask', { retry: { attempts: 4, backoff: { kind: 'fixed', delay: '3s' }, jitter: false } }, (step) => {
      tries.push(step.attempt)
      if (step.attempt < 3) throw new Error('not yet')
      return 'answered'
    }),
  )
  const first = world.work([retrying], { leaseTtl: '1s' })
  const handle = await world.fabric.submit(work, null)
  await world.advance(3_500)
  first.crash()
  world.work([retrying])
  await world.advance(10_000)

  expect(await handle.result()).toBe('answered')
  expect(tries).toEqual([1, 2, 3])
})

test('a handler that is cut off between two waits finds the first one answered', async () => {
  await using world = createWorld()
  world.fabric.engine()
  const seen: string[] = []
  const resting = (hangs: boolean) =>
    work.handle(async (_, context) => {
      await context.sleep('first', '1s')
      seen.push(hangs ? 'cut off' : 'behind the first')
      if (hangs) await new Promise(() => undefined)
      await context.sleep('second', '1s')
      return 'rested'
    })
  const first = world.work([resting(true)], { leaseTtl: '1s' })
  const handle = await world.fabric.submit(work, null)
  await world.advance(1_100)
  expect(seen).toEqual(['cut off'])
  first.crash()
  world.work([resting(false)])
  await world.advance(5_000)

  expect(await handle.result()).toBe('rested')
  expect(seen).toEqual(['cut off', 'behind the first', 'behind the first'])
})

test('a lease that is lost during a step aborts its work, and nothing is recorded', async () => {
  await using world = createWorld()
  const stopped = gate()
  const errors: unknown[] = []
  world.work([
    work.handle(async (_, context) => {
      try {
        await context.step('long', async (step) => {
          await aborted(step.signal).catch(() => undefined)
          stopped.open()
          return 'too late'
        })
      } catch (error) {
        errors.push(error)
        await context.step('undo', () => errors.push('must not run')).catch((again: unknown) => errors.push(again))
        throw error
      }
    }),
  ])
  const handle = await world.fabric.submit(work, null)
  await world.settle()
  await world.fabric.revokeLease(handle.id, 'stuck')
  await world.advance(60_000)
  await stopped.isOpen

  expect(errors.slice(0, 2)).toMatchObject([{ code: 'lease_revoked' }, { code: 'lease_revoked' }])
  expect(world.store.callsOf('recordStep')).toEqual([])
})

test('a worker that stops hands back an execution in the middle of a step, which has not failed', async () => {
  await using world = createWorld()
  const runs: string[] = []
  const handler = (name: string) =>
    work.handle(async (_, context) => {
      await context.step('before', () => 1)
      try {
        return await context.step('long', async (step) => {
          runs.push(name)
          return name === 'second' ? name : await aborted(step.signal)
        })
      } catch (error) {
        await context.step('undo', () => runs.push('must not run'))
        throw error
      }
    })
  const first = world.work([handler('first')])
  const handle = await world.fabric.submit(work, null)
  await world.settle()
  const closing = first.close({ drain: 0 })
  await world.advance(1_000)

  expect(await closing).toMatchObject({ released: 1, abandoned: 0 })
  expect(world.store.callsOf('recordStep')).toHaveLength(1)
  world.work([handler('second')])
  expect(await handle.result()).toBe('second')
  expect(runs).toEqual(['first', 'second'])
})

/** Cancels an execution that is in the middle of its first step. */
async function cancelWithin(world: World, run: (context: TaskContext, reached: () => void) => Promise<unknown>) {
  const step = gate()
  world.work([work.handle((_, context) => run(context, step.open))])
  const handle = await world.fabric.submit(work, null)
  await step.isOpen
  await handle.cancel('not wanted any more')
  await world.advance(5_000)
  return handle
}

test('a cancel stops a handler at its next step', async () => {
  await using world = createWorld()
  const done: string[] = []
  const first = gate()
  const cancelled = cancelWithin(world, async (context, reached) => {
    await context.step('first', async () => {
      reached()
      await first.isOpen
      done.push('first')
    })
    await context.step('second', () => done.push('second'))
  })
  await world.settle()
  await world.advance(1_000)
  first.open()
  const handle = await cancelled
  await world.advance(1_000)

  expect(await world.stateOf(handle.id)).toBe('cancelled')
  expect(done).toEqual(['first'])
})

test('a handler that receives a cancel request may clean up in further steps', async () => {
  await using world = createWorld()
  const undone: unknown[] = []
  const handle = await cancelWithin(world, async (context, reached) => {
    try {
      await context.step('book', async (step) => {
        reached()
        await aborted(step.signal)
      })
    } catch (error) {
      undone.push(error)
      await context.step('undo', ({ signal }) => undone.push(signal.aborted))
      throw error
    }
  })

  expect(await world.stateOf(handle.id)).toBe('cancelled')
  expect(undone).toMatchObject([{ code: 'execution_cancelled' }, false])
  expect(world.store.callsOf('recordStep').map(({ input }) => input)).toMatchObject([{ name: 'undo' }])
})
