import { expect, test } from 'vitest'
import { PermanentError, signal, task } from '../../client/index.ts'
import { createWorld } from '../worker.fixture.ts'

const work = task<null>('work')

test('a replay keeps what was recorded, and does what failed again', async () => {
  await using world = createWorld()
  const done: string[] = []
  let isMended = false
  world.work([
    work.handle(async (_, context) => {
      await context.step('a', () => done.push('a'))
      await context.step('b', () => {
        done.push('b')
        if (!isMended) throw new PermanentError('broken')
      })
      return 'done'
    }),
  ])
  const handle = await world.fabric.submit(work, null)
  await handle.wait()
  isMended = true
  await world.fabric.replay(handle.id)

  expect(await handle.result()).toBe('done')
  expect(done).toEqual(['a', 'b', 'b'])
})

test('a replay from a step asks others anew from there on, and under keys of its own', async () => {
  await using world = createWorld()
  const keys: string[] = []
  const chances: number[] = []
  world.work([
    work.handle(async (_, context) => {
      chances.push(context.random())
      for (const name of ['a', 'b', 'c']) await context.step(name, (step) => keys.push(step.idempotencyKey))
      throw new PermanentError('not good enough')
    }),
  ])
  const handle = await world.fabric.submit(work, null)
  await handle.wait()
  await world.fabric.replay(handle.id, { from: { step: 'b' } })
  await world.settle()

  const prefix = keys[0]?.replace(/:a$/, '') ?? ''
  expect(keys.map((key) => key.replace(prefix, ''))).toEqual([':a', ':b', ':c', '.1:b', '.1:c'])
  expect(chances[1]).toBe(chances[0])
})

test('a wait that was cut off by the end of its execution waits anew after a replay', async () => {
  await using world = createWorld()
  world.work([work.handle((_, context) => context.waitFor('payment', signal('paid')))])
  const handle = await world.fabric.submit(work, null)
  await world.settle()
  await handle.cancel('by mistake')
  await world.fabric.replay(handle.id)
  await world.settle()

  expect(await world.stateOf(handle.id)).toBe('suspended')
  await world.fabric.signal(handle.id, 'paid', 5)
  expect(await handle.result()).toMatchObject({ ok: true, value: 5 })
})

test('code that has changed finds its steps by name, and does what is new', async () => {
  await using world = createWorld()
  const done: string[] = []
  const version = (names: readonly string[]) =>
    work.handle(async (_, context) => {
      for (const name of names) await context.step(name, () => done.push(name))
      await context.waitFor('go', signal('go'))
      return names.length
    })
  const first = world.work([version(['a', 'b'])])
  const handle = await world.fabric.submit(work, null)
  await world.settle()
  await first.close()
  world.work([version(['new', 'b', 'a', 'newer'])])
  await world.fabric.signal(handle.id, 'go')

  expect(await handle.result()).toBe(4)
  expect(done).toEqual(['a', 'b', 'new', 'newer'])
})
