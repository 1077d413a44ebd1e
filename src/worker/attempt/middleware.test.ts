import { expect, test } from 'vitest'
import { task } from '../../client/index.ts'
import type { Middleware } from './middleware.ts'
import { createWorld } from '../worker.fixture.ts'

const greet = task<string, string>('greet')

test('middleware stands around the handler, the first outermost', async () => {
  await using world = createWorld()
  const steps: string[] = []
  const named =
    (name: string): Middleware =>
    async (context, next) => {
      steps.push(`${name} before ${context.task}`)
      const value = await next()
      steps.push(`${name} after`)
      return value
    }
  world.work([greet.handle((name) => (steps.push('handler'), `Hello, ${name}`))], {
    middleware: [named('outer'), named('inner')],
  })

  const execution = await world.fabric.submit(greet, 'Ada')

  expect(await execution.result()).toBe('Hello, Ada')
  expect(steps).toEqual(['outer before greet', 'inner before greet', 'handler', 'inner after', 'outer after'])
})

test('what a middleware returns or throws is the outcome', async () => {
  await using world = createWorld()
  const guard: Middleware = async (context, next) => {
    if (context.tags['from'] === 'a stranger') throw new Error('not for strangers')
    return `${String(await next())}!`
  }
  world.work([greet.handle((name) => `Hello, ${name}`)], { middleware: [guard] })

  const welcome = await world.fabric.submit(greet, 'Ada')
  const refused = await world.fabric.submit(greet, 'Eve', { tags: { from: 'a stranger' } })
  await world.settle()

  expect(await welcome.result()).toBe('Hello, Ada!')
  expect((await refused.describe()).failure?.message).toBe('not for strangers')
})

test('a handler runs once even if a middleware calls next twice', async () => {
  await using world = createWorld()
  let runs = 0
  const twice: Middleware = async (_context, next) => {
    await next()
    return await next()
  }
  world.work([greet.handle((name) => (++runs, name))], { middleware: [twice] })

  const execution = await world.fabric.submit(greet, 'Ada')
  await world.settle()

  expect(runs).toBe(1)
  expect((await execution.describe()).failure?.message).toContain('next() twice')
})
