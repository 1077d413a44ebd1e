import { z } from 'zod'
import { expect, test } from 'vitest'
import { allOf, anyOf, flow, task } from '../../client/index.ts'
import { INPUTS_BYTES_MAX } from './upstream-results.ts'
import { createWorld } from '../worker.fixture.ts'

const KIB = 1_024

const build = task<{ sha: string }, { image: string }>('build')
const deploy = task<string, string, { build: { image: string } }>('deploy')
const part = task<number>('part')
const dated = task<string, { at: string }>('dated')
const whole = task<string, number>('whole')

const buildHandler = build.handle(({ sha }) => ({ image: `image:${sha}` }))

const release = flow('release', (f, sha: string) => {
  const built = f.node('build', build, { input: { sha } })
  return f.node('deploy', deploy, { after: allOf(built), input: 'prod' })
})

/** So many upstreams, and one that waits for all of them. */
const fanIn = flow('fan-in', (f, count: number) => {
  const parts = Array.from({ length: count }, (_, i) => f.node(`part${i}`, part, { input: i }))
  return f.node('whole', whole, { after: allOf(parts), input: '' })
})

test('a handler gets the results of those that it waited for, by name, and knows where it stands', async () => {
  await using world = createWorld()
  const seen: unknown[] = []
  const deployHandler = deploy.handle((env, { flowId, node, inputs }) => {
    seen.push(flowId, node)
    return `${inputs.build.image} to ${env}`
  })
  world.work([buildHandler, deployHandler])

  const handle = await world.fabric.submit(release, 'f00')

  expect(await handle.result()).toBe('image:f00 to prod')
  expect(seen).toEqual([handle.id, 'deploy'])
})

test('an upstream that returned nothing is there as undefined, one that did not complete is not there', async () => {
  await using world = createWorld()
  const race = flow('race', (f) => {
    const parts = [0, 1].map((number) => f.node(`part${number}`, part, { input: number }))
    return f.node('whole', whole, { after: anyOf(parts, { losers: 'let_run' }), input: '' })
  })
  let inputs: unknown
  const partHandler = part.handle((number) => (number === 0 ? undefined : Promise.reject(new Error('no'))))
  world.work([partHandler, whole.handle((_, context) => ((inputs = context.inputs), 0))])

  await (await world.fabric.submit(race, undefined)).wait()

  expect(inputs).toStrictEqual({ part0: undefined })
})

test('an execution that was submitted alone has no inputs and no flow', async () => {
  await using world = createWorld()
  const seen: unknown[] = []
  world.work([whole.handle((_, { inputs, flowId, node }) => (seen.push(inputs, flowId, node), 0))])

  await (await world.fabric.submit(whole, '')).result()

  expect(seen).toEqual([{}, undefined, undefined])
})

test.each([
  ['in number', 100, 1],
  ['in size', 5, 40 * KIB],
])('what a claim does not bring, %s, is read before the handler starts', async (_, count, size) => {
  await using world = createWorld()
  const wholeHandler = whole.handle((__, { inputs }) => Object.values(inputs).flatMap((text) => text as string).length)
  world.work([part.handle((number) => String(number % 10).repeat(size)), wholeHandler])

  const handle = await world.fabric.submit(fanIn, count)
  await world.settle()

  expect(await handle.result()).toBe(count)
  expect(world.store.callsOf('readInputs').length).toBeGreaterThan(0)
})

test('pages of inputs are asked for until the store answers', async () => {
  await using world = createWorld()
  let failures = 0
  world.store.plan = ({ operation }) => (operation === 'readInputs' && ++failures < 3 ? 'before' : undefined)
  world.work([part.handle((number) => number), whole.handle((_, { inputs }) => Object.keys(inputs).length)])

  const handle = await world.fabric.submit(fanIn, 40)
  await world.advance(10_000)

  expect(await handle.result()).toBe(40)
})

test('more inputs than a worker should hold fail the attempt for good', async () => {
  await using world = createWorld()
  const bytes = new Uint8Array(KIB * KIB)
  let runs = 0
  world.work([part.handle(() => bytes), whole.handle(() => ++runs)])

  const handle = await world.fabric.submit(fanIn, INPUTS_BYTES_MAX / bytes.byteLength + 1)
  const { state, failure } = await handle.member('whole').wait()

  expect([state, runs]).toEqual(['failed', 0])
  expect(failure).toMatchObject({ category: 'permanent', message: expect.stringContaining('pass on fewer') as string })
})

const checked = task('checked', {
  inputs: { part0: z.object({ at: z.coerce.date() }), note: z.string().optional() },
  output: z.string(),
  retry: { attempts: 3 },
})
const checkedFlow = flow('checked', (f) => {
  const first = f.node('first', dated, { input: '' })
  return f.node('checked', checked, { after: allOf({ part0: first }) })
})

test('inputs are seen through the schemas of the task', async () => {
  await using world = createWorld()
  const checkedHandler = checked.handle((_, { inputs }) => inputs.part0.at.toISOString())
  world.work([dated.handle(() => ({ at: '2026-01-02' })), checkedHandler])

  const handle = await world.fabric.submit(checkedFlow, undefined)

  expect(await handle.result()).toBe('2026-01-02T00:00:00.000Z')
})

test('an input that does not fit its schema is refused', async () => {
  await using world = createWorld()
  world.work([dated.handle(() => ({ at: 'no date' })), checked.handle(() => '')])

  const handle = await world.fabric.submit(checkedFlow, undefined)
  await world.settle()

  const { state, refusals } = await handle.member('checked').describe()
  expect(state).toBe('delayed')
  expect(refusals).toMatchObject({ count: 1, reason: expect.stringContaining('inputs.part0') as string })
})
