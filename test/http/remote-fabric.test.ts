/** The library with the address of a server as its location: submits, workers, flows, signals and streams over HTTP. */
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric, FabricOptions } from '../../src/fabric/fabric.ts'
import { flow } from '../../src/client/define/flow.ts'
import { limit } from '../../src/client/define/limit.ts'
import { signal } from '../../src/client/define/signal-wait.ts'
import { allOf } from '../../src/client/define/upstreams.ts'
import { task } from '../../src/client/define/task.ts'
import type { LogItem } from '../../src/client/streams/read-logs.ts'
import { byRole, served } from './served.ts'
import type { Served } from './served.ts'

async function remote({ url }: Served, options: FabricOptions = {}): Promise<Fabric> {
  const fabric = await createFabric(url, { log: 'silent', ...options })
  onTestFinished(() => fabric.close())
  return fabric
}

const add = task<{ readonly a: number; readonly b: number }, number>('add')
const addHandler = add.handle(({ a, b }) => a + b)

test('a program submits, and a worker runs steps, sleeps, children and signals', async () => {
  const found = await served()
  found.fabric.engine()
  const [program, workers] = [await remote(found), await remote(found)]
  const order = task<{ readonly n: number }, string>('order')
  const orderHandler = order.handle(async ({ n }, ctx) => {
    const first = await ctx.step('first', () => n + 1)
    await ctx.sleep('pause', 20)
    const sum = await ctx.call('sum', add, { a: first, b: 10 })
    const paid = await ctx.waitFor('paid', signal('paid'))
    return `${sum} ${JSON.stringify(paid)}`
  })
  await workers.work([orderHandler, addHandler])

  const execution = await program.submit(order, { n: 1 }, { id: 'order:1' })
  await execution.signal('paid', { amount: 3 })

  expect(await execution.result()).toContain('12')
  expect((await program.describe('order:1')).state).toBe('completed')
})

test('a flow, frames, a summary and a limit work as with a store', async () => {
  const found = await served()
  found.fabric.engine()
  const fabric = await remote(found)
  const talk = task('talk', {
    input: z.object({ words: z.array(z.string()) }),
    limits: [limit('model', { concurrency: 1 })],
    frames: { token: z.string() },
  })
  const talkHandler = talk.handle(async ({ words }, ctx) => {
    for (const word of words) await ctx.frames.token(word)
    await ctx.summary.patch({ count: words.length })
    ctx.log.info({ count: words.length }, 'spoken')
    return words.length
  })
  await fabric.work([talkHandler, addHandler])
  const sums = flow('sums', (f) => {
    const left = f.node('left', add, { input: { a: 1, b: 2 } })
    return f.node('right', add, { input: { a: 3, b: 4 }, after: allOf(left) })
  })

  expect(await (await fabric.submit(sums)).result()).toBe(7)
  const spoken = await fabric.submit(talk, { words: ['a', 'b'] })
  const lines: LogItem[] = []
  for await (const line of spoken.logs()) lines.push(line)
  expect(lines).toMatchObject([{ message: 'spoken', fields: { count: 2 } }])
  expect(await spoken.result()).toBe(2)
})

test('a token decides about the namespace, and a wrong one is refused with what is wrong', async () => {
  const found = await served({ authenticate: byRole, fabric: { allNamespaces: true } })
  const acme = await remote(found, { token: 'worker-acme' })

  expect(acme.namespace).toBe('acme')
  await expect(remote(found, { token: 'nobody' })).rejects.toMatchObject({ code: 'unauthorized' })
  await expect(remote(found, { token: 'worker-acme', namespace: 'other' })).rejects.toMatchObject({
    code: 'invalid_configuration',
    detail: { field: 'namespace' },
  })
  expect(() => acme.engine()).toThrow('The engine runs in the server')
})
