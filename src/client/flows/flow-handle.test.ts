import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { testFabric } from '../../testing/index.ts'
import { PermanentError } from '../define/errors.ts'
import { flow } from '../define/flow.ts'
import { task } from '../define/task.ts'
import { allOf, anyOf, upstream } from '../define/upstreams.ts'

const build = task<{ sha: string }, { image: string }>('build')
const check = task<string, string>('check')
const deploy = task<undefined, string, { build: { image: string } }>('deploy')
const endless = task('endless')
const measured = task('measured', { output: z.string().transform((text) => text.length) })

const failing = { checks: false }
const handlers = [
  build.handle(({ sha }) => ({ image: `image-${sha}` })),
  check.handle((kind) => {
    if (failing.checks) throw new PermanentError(`${kind} is red`)
    return kind
  }),
  deploy.handle((_input, ctx) => `deployed ${ctx.inputs.build.image}`),
  endless.handle((_input, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject))),
  measured.handle(() => 'four'),
]

const release = flow('release', (f, sha: string) => {
  const image = f.node('build', build, { input: { sha } })
  const unit = f.node('unit', check, { after: allOf(image), input: 'unit' })
  return f.node('deploy', deploy, { after: allOf(image, unit) })
})

const startEndless = flow('endless', (f, count: number) => {
  const running = f.node('running', endless)
  for (let i = 0; i < count; i++) f.node(`behind-${i}`, endless, { after: allOf(running) })
})

test("the result is that of the node that the flow's function returns", async () => {
  await using t = await testFabric(handlers)

  const handle = await t.submit(release, 'f00')
  const result = handle.result()
  expectTypeOf(result).toEqualTypeOf<Promise<string>>()
  await t.advance(0)

  expect(await result).toBe('deployed image-f00')
  expect(await handle.output('build')).toEqual({ image: 'image-f00' })
  expect(await handle.wait()).toMatchObject({ state: 'completed', outcome: 'completed', isSettled: true, liveCount: 0 })
  expect((await t.describe(handle.member('deploy').id, { inputs: true })).inputs).toEqual({
    build: { image: 'image-f00' },
    unit: 'unit',
  })
})

test('several nodes give an object of results, each through the schema of its task', async () => {
  await using t = await testFabric(handlers)
  const several = flow('several', (f) => ({ size: f.node('m', measured), kind: f.node('c', check, { input: 'x' }) }))

  const handle = await t.submit(several, undefined)
  await t.advance(0)

  expect(await handle.result()).toEqual({ size: 4, kind: 'x' })
  expect(await handle.output('m')).toBe(4)
  expect(await handle.member('m', measured).result()).toBe(4)
})

test('a handle from an id or a key knows the result if it is given the definition and the input', async () => {
  await using t = await testFabric(handlers)
  const submitted = await t.submit(release, 'f00', { id: 'r' })
  await t.advance(0)

  expect(await t.flow('r', release, 'f00').result()).toBe('deployed image-f00')
  const sinks = t.flow(submitted.id).result()
  expectTypeOf(sinks).toEqualTypeOf<Promise<Readonly<Record<string, unknown>>>>()
  expect(await sinks).toEqual({ deploy: 'deployed image-f00' })
  await expect(t.flow('unknown').result()).rejects.toMatchObject({ code: 'flow_not_found' })
  expect(() => t.flow(submitted.member('build').id)).toThrow('is the id of an execution')
  expect(() => t.execution(submitted.id)).toThrow('is the id of a flow')
})

test('a failed flow names the first member that failed, and what was skipped names its upstream', async () => {
  await using t = await testFabric(handlers)
  failing.checks = true

  const handle = await t.submit(release, 'f00')
  const failed = expect(handle.result()).rejects.toMatchObject({
    code: 'flow_failed',
    detail: { flowId: handle.id, executionId: handle.member('unit').id, nodes: ['unit'], outcome: 'failed' },
  })
  await t.advance(0)
  await failed

  await expect(handle.result()).rejects.toThrow("The flow failed. Node 'unit' failed (permanent: unit is red).")
  expect(await handle.wait()).toMatchObject({ state: 'failed', counts: { completed: 1, failed: 1, skipped: 1 } })
  expect((await handle.member('deploy').why()).text).toContain(
    "skipped, since what it depended on did not complete: 'unit' (failed).",
  )
  failing.checks = false
})

test('a failed member is replayed together with the members skipped because of it', async () => {
  await using t = await testFabric(handlers)
  failing.checks = true
  const handle = await t.submit(release, 'f00')
  await t.advance(0)
  failing.checks = false

  await expect(handle.replay('deploy')).rejects.toMatchObject({ code: 'upstream_not_replayed' })
  await handle.replay('unit', { subtree: true, reason: 'the outage is over' })
  await t.advance('1s')

  expect(await handle.result()).toBe('deployed image-f00')
})

test('the explanation of a waiting member names its upstreams', async () => {
  await using t = await testFabric(handlers)

  const handle = await t.submit(startEndless, 1)
  await t.advance(0)

  expect((await handle.member('behind-0').why()).text).toContain("Not ended yet: 'running' (active).")
})

test('the explanation of a member that lost a race names the reason, and the flow completes', async () => {
  await using t = await testFabric(handlers)
  const race = flow('race', (f) => {
    const slow = f.node('slow', endless)
    const fast = f.node('fast', check, { input: 'fast' })
    return f.node('first', check, { after: anyOf([slow, fast]), input: 'first' })
  })

  const handle = await t.submit(race, undefined)
  await t.advance(0)

  expect(await handle.result()).toBe('first')
  expect(await handle.describe()).toMatchObject({ state: 'completed', counts: { superseded: 1, cancelled: 0 } })
  expect(await handle.member('slow').describe()).toMatchObject({ outcome: 'cancelled', isSuperseded: true })
  expect((await handle.member('slow').why()).text).toContain('since enough others of its race had completed')
})

test('members come in the order of the graph, page by page, and with what leads to them if asked', async () => {
  await using t = await testFabric(handlers)
  const wide = flow('wide', (f) => {
    const all = Array.from({ length: 250 }, (_, i) => f.node(`n${i}`, check, { input: `${i}`, delay: '1h' }))
    f.node('last', check, { after: allOf(all), input: 'last' })
  })
  const handle = await t.submit(wide, undefined)

  const plainly = await collect(handle.members())
  const wired = await collect(handle.members({ edges: true }))

  expect(plainly.map((member) => member.node)).toEqual([...Array.from({ length: 250 }, (_, i) => `n${i}`), 'last'])
  expect(plainly.at(-1)?.upstreams).toEqual([])
  expect(wired).toHaveLength(251)
  expect(new Set(wired.at(-1)?.upstreams.map((upstream) => upstream.node)).size).toBe(250)
  expect(wired.at(-1)?.upstreams.every((upstream) => upstream.isOpen)).toBe(true)
})

test('an unknown option of a listing is refused', async () => {
  await using t = await testFabric(handlers)
  const handle = await t.submit(release, 'f00')

  await expect(collect(handle.members({ edgs: true } as never))).rejects.toMatchObject({ detail: { field: 'options' } })
})

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

test('the events of a flow are its own and those of its members', async () => {
  await using t = await testFabric(handlers)
  await t.submit(check, 'another')
  const handle = await t.submit(release, 'f00')
  await t.advance(0)
  const types: string[] = []

  for await (const item of handle.events({ fromStart: true })) {
    if (item.kind !== 'event') continue
    expect(item.event.flowId).toBe(handle.id)
    types.push(item.event.type)
    if (item.event.type === 'flow_ended') break
  }

  expect(types.slice(0, 2)).toEqual(['flow_created', 'execution_created'])
  expect(types.filter((type) => type === 'execution_ended')).toHaveLength(3)
})

test('a cancelled flow names who cancelled it and why, and a waiting caller is rejected', async () => {
  await using t = await testFabric(handlers)
  const handle = await t.submit(startEndless, 3)
  await t.advance(0)
  const waiting = expect(handle.result()).rejects.toThrow('The flow was cancelled. ada cancelled it: no longer wanted')

  const cancelling = handle.cancel('no longer wanted', { by: 'ada', wait: true })
  await t.advance('1s')

  expect(await cancelling).toMatchObject({ kind: 'cancelled', policy: 'cancel_all', settled: true, liveCount: 0 })
  await waiting
  expect(await handle.cancel('again', { policy: 'flow_only' })).toMatchObject({
    kind: 'already_cancelled',
    policy: 'cancel_all',
    reason: 'no longer wanted',
  })
  expect(await handle.describe()).toMatchObject({ outcome: 'cancelled', cancel: { by: 'ada', isUnderWay: false } })
})

test('a waiting cancel that times out names the remaining members', async () => {
  await using t = await testFabric([check.handle(() => new Promise<string>(() => undefined))])
  const stubborn = flow('stubborn', (f) => f.node('deaf', check, { input: 'x' }))
  const handle = await t.submit(stubborn, undefined)
  await t.advance(0)

  const cancelling = expect(handle.cancel('enough', { wait: '5s' })).rejects.toThrow("1 are left, among them 'deaf'.")
  await t.advance('6s')
  await cancelling
  const forced = expect(handle.cancel('enough', { wait: '1m' })).resolves.toMatchObject({ settled: true })
  await t.advance('1m')

  await forced
})

test('those that run may finish if only what waits is cancelled', async () => {
  await using t = await testFabric(handlers)
  const handle = await t.submit(startEndless, 3)
  await t.advance(0)

  const cancelling = handle.cancel('enough', { policy: 'cancel_pending', wait: true })
  await t.advance('1s')

  expect(await cancelling).toMatchObject({ policy: 'cancel_pending', settled: false, liveCount: 1 })
  expect(await handle.member('running').state()).toBe('active')
})

test.each<[string, object]>([
  ['policy', { policy: 'cancel_some' }],
  ['wait', { wait: {} }],
  ['wait', { wait: 'long' }],
  ['grace', { grace: -1 }],
  ['force', { force: 1 }],
  ['options', { polcy: 'cancel_all' }],
])('a wrong %s of a cancel is refused by name', async (field, options) => {
  await using t = await testFabric(handlers)
  const handle = await t.submit(startEndless, 1)

  await expect(handle.cancel('enough', options)).rejects.toMatchObject({ code: 'invalid_input', detail: { field } })
  expect((await handle.describe()).outcome).toBeUndefined()
})

test('tags of a flow are set and removed, and flows are found by them, by name and by state', async () => {
  await using t = await testFabric(handlers)
  const first = await t.submit(release, 'f00', { tags: { plan: 'pro', team: 'a' } })
  await t.advance(0)
  const second = await t.submit(startEndless, 1, { tags: { plan: 'free' } })

  await first.setTags({ plan: 'free', team: undefined })

  expect((await first.describe()).tags).toEqual({ plan: 'free' })
  expect(await idsOf({ tag: { name: 'plan', value: 'free' } })).toEqual([second.id, first.id])
  expect(await idsOf({ name: 'release' })).toEqual([first.id])
  expect(await idsOf({ state: 'completed' })).toEqual([first.id])
  await expect(idsOf({ namespace: 'another' })).rejects.toMatchObject({ code: 'invalid_input' })
  const page = await t.flows({ limit: 1 })
  expect(page.items.map((item) => item.id)).toEqual([second.id])
  expect(
    (await t.flows({ limit: 1, ...(page.cursor === undefined ? {} : { cursor: page.cursor }) })).items,
  ).toHaveLength(1)
  await expect(t.flows({ state: 'waiting' as never })).rejects.toMatchObject({ detail: { field: 'state' } })

  async function idsOf(query: Parameters<typeof t.flows>[0]): Promise<string[]> {
    return (await t.flows(query)).items.map((item) => item.id)
  }
})

test('too many tags of a flow are refused by name', async () => {
  await using t = await testFabric(handlers)
  const handle = await t.submit(release, 'f00')
  const tags = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`tag${i}`, 'x']))
  await handle.setTags(tags)

  await expect(handle.setTags({ another: 'x' })).rejects.toThrow('together with those that the flow has')
})

test('waiting for a flow ends when its caller gives up', async () => {
  await using t = await testFabric(handlers)
  const handle = await t.submit(startEndless, 1)
  const abort = new AbortController()
  const waiting = expect(handle.result({ signal: abort.signal })).rejects.toMatchObject({ code: 'aborted' })
  await t.advance(0)

  abort.abort()

  await waiting
})

test('a result of a node that did not complete is refused even if the flow completed', async () => {
  await using t = await testFabric(handlers)
  const race = flow('race', (f) => {
    const slow = f.node('slow', endless)
    const fast = f.node('fast', check, { input: 'fast' })
    f.node('first', check, { after: anyOf([slow, fast]), input: 'first' })
    return { slow, fast }
  })

  const handle = await t.submit(race, undefined)
  await t.advance(0)

  expect(await handle.wait()).toMatchObject({ state: 'completed' })
  await expect(handle.result()).rejects.toMatchObject({ code: 'execution_cancelled' })
})

test('a result node that a condition skipped has no result', async () => {
  const picky = flow('picky', (f, sha: string) => {
    const image = f.node('build', build, { input: { sha } })
    const unit = f.node('unit', check, {
      after: allOf(image),
      input: 'unit',
      when: (inputs) => inputs.build.image === '',
    })
    return { image, unit, deploy: f.node('deploy', deploy, { after: allOf(image, unit) }) }
  })
  await using t = await testFabric(handlers, { flows: [picky] })

  const handle = await t.submit(picky, 'f00')
  await t.advance(0)

  expect(await handle.result()).toEqual({ image: { image: 'image-f00' }, unit: undefined, deploy: undefined })
  expect(await t.flow(handle.id).result()).toEqual({})
  await expect(handle.output('unit')).rejects.toThrow('condition')
})

test('a failure that an edge ignores is not the one that is named', async () => {
  const mixed = flow('mixed', (f) => {
    const lint = f.node('lint', check, { input: 'lint' })
    const after = allOf(upstream(lint, { onFailure: 'ignore' }))
    f.node('unit', check, { after, input: 'unit' })
  })
  await using t = await testFabric(handlers)
  failing.checks = true

  const handle = await t.submit(mixed, undefined)
  await t.advance(0)
  failing.checks = false

  await expect(handle.result()).rejects.toMatchObject({ detail: { nodes: ['unit'] } })
  expect(await handle.member('lint').describe()).toMatchObject({ outcome: 'failed', isExcused: true })
})
