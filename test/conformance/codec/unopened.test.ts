/** Values that a worker cannot open while its handler runs, such as before it has a new key: other workers get the execution. */
import { expect, test } from 'vitest'
import { allOf, encryption, flow, mintCodecKeys, task } from '../../../src/index.ts'
import { signal } from '../../../src/client/define/signal-wait.ts'
import type { ExecutionHandle } from '../../../src/client/executions/execution-handle.ts'
import { until } from '../../servers/until.ts'
import { storeTargets } from '../targets.ts'
import { siteOn } from './sealed-site.ts'
import type { Site } from './sealed-site.ts'

const LIMIT_MS = 30_000
const keys = mintCodecKeys(0)

const first = task<undefined, string>('first')
const kept = task<undefined>('kept')
const told = task<undefined>('told')
const reader = task<undefined>('reader')
const parent = task<undefined>('parent')
const caught = task<undefined>('caught')
const second = task('second', { inputs: {} })
const handlers = [
  first.handle(() => 'opened'),
  second.handle((_input, ctx) => (ctx.inputs as Record<string, unknown>)['first']),
  kept.handle(async (_input, ctx) => {
    const value = await ctx.step('keep', () => 'opened')
    await ctx.waitFor('go', signal('go'))
    return value
  }),
  caught.handle(async (_input, ctx) => {
    const value = await ctx.step('keep', () => 'opened').catch(() => 'a fallback')
    await ctx.waitFor('go', signal('go'))
    return value
  }),
  told.handle(async (_input, ctx) => {
    const answer = await ctx.waitFor('go', signal('go'))
    return answer.ok ? answer.value : undefined
  }),
  parent.handle(async (_input, ctx) => await ctx.call('child', first, undefined)),
  reader.handle(async (_input, ctx) => {
    for await (const { value } of ctx.inbox('go')) return value
    return undefined
  }),
]

const graph = flow('pass', (f) => {
  const node = f.node('first', first)
  return f.node('second', second, { after: allOf(node) })
})

async function refusedOnce(site: Site, execution: ExecutionHandle): Promise<void> {
  const found = await until('a worker refuses the execution', LIMIT_MS, async () => {
    const { state, refusals } = await execution.describe()
    return refusals !== undefined || state === 'failed' || state === 'completed' ? { state, refusals } : undefined
  })
  expect(found).toMatchObject({ state: 'delayed', refusals: { count: 1 } })
  site.tamper = (_call, blobs) => blobs
}

async function isSuspended(execution: ExecutionHandle): Promise<true | undefined> {
  return (await execution.describe()).state === 'suspended' ? true : undefined
}

/** Spoils the values of the answers to an operation. */
function spoil(site: Site, ...operations: readonly string[]): void {
  site.tamper = (call, blobs) => {
    if (!operations.includes(call.operation)) return blobs
    return blobs.map((blob) => Uint8Array.from(blob, (byte, i) => (i === blob.byteLength - 20 ? byte ^ 1 : byte)))
  }
}

test.each([
  ['a step', kept, 'readSteps'],
  ['a step, whose error the handler catches', caught, 'readSteps'],
  ['a signal', told, 'readSignals'],
  ['a message of an inbox', reader, 'takeSignals'],
  ['the result of a child', parent, 'readSteps'],
] as const)('that of %s leaves the execution to others', async (_of, of, operation) => {
  const site = await siteOn(storeTargets[0]!)
  const fabric = site.fabric(encryption({ keys }))
  await fabric.work(handlers, { sweep: '100ms' })
  spoil(site, operation)
  const execution = await fabric.submit(of)
  // The next run of the handler replays the step.
  if (of === kept || of === caught) await until('it waits', LIMIT_MS, () => isSuspended(execution))
  if (of !== parent) await execution.signal('go', 'opened')

  await refusedOnce(site, execution)
  if (of === caught) expect(await execution.result()).toBe('opened')
})

test('that of an upstream leaves the member to others', async () => {
  const site = await siteOn(storeTargets[0]!)
  const fabric = site.fabric(encryption({ keys }))
  await fabric.work(handlers, { sweep: '100ms' })
  spoil(site, 'claimForWorker', 'completeExecution', 'readInputs')
  const run = await fabric.submit(graph, undefined)
  let member: ExecutionHandle | undefined
  for await (const { id, task: name } of run.members()) if (name === second.name) member = fabric.execution(id)

  await refusedOnce(site, member!)
})
