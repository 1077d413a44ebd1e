/** Programs and workers over HTTP with a codec: the server has no key, and shows values as sealed. */
import { expect, onTestFinished, test } from 'vitest'
import { encryption, mintCodecKeys } from '../../src/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import { task } from '../../src/client/define/task.ts'
import { until } from '../servers/until.ts'
import { served } from './served.ts'

test('values are sealed and opened in the programs, and the server never has them', async () => {
  const found = await served()
  found.fabric.engine()
  const codec = encryption({ keys: mintCodecKeys(0) })
  const fabric = await createFabric(found.url, { log: 'silent', codec })
  onTestFinished(() => fabric.close())
  const greet = task<string, string>('greet')
  await fabric.work([greet.handle(async (name, ctx) => await ctx.step('greet', () => `hello ${name}`))])

  const execution = await fabric.submit(greet, 'Ada')
  expect(await execution.result()).toBe('hello Ada')
  const params = { id: execution.id }
  expect(await found.ok('getResult', { params })).toMatchObject({ result: { sealed: 'value_sealed' } })
  expect(await found.ok('listSteps', { params, query: { values: true } })).toMatchObject({
    items: [{ value: { sealed: 'value_sealed' } }],
  })
})

test('a worker over HTTP gets nothing that the server cannot open, and leaves it to others', async () => {
  const found = await served()
  const codec = encryption({ keys: mintCodecKeys(0) })
  const fabric = await createFabric(found.url, { log: 'silent', codec })
  onTestFinished(() => fabric.close())
  const sealed = await fabric.submit(task<string>('mail'), 'Ada')
  await found.ok('submitExecution', { body: { task: 'mail', id: 'plain', input: 'Bob' } })

  const { items } = await found.ok('claimExecutions', { body: { tasks: [{ name: 'mail' }], instance: 'i', count: 5 } })
  expect(items).toMatchObject([{ key: 'plain', input: 'Bob' }])
  expect(await fabric.describe(sealed.id)).toMatchObject({ state: 'delayed', refusals: { count: 1 } })
})

const copy = task<Uint8Array, Uint8Array>('copy')
const copyHandler = copy.handle((bytes) => Promise.resolve(bytes))
const bytes = Uint8Array.from([1, 2, 3])

test('a server with the key shows what programs have sealed once, of any encoding', async () => {
  const codec = encryption({ keys: mintCodecKeys(0) })
  const found = await served({ fabric: { codec } })
  found.fabric.engine()
  const fabric = await createFabric(found.url, { log: 'silent', codec })
  onTestFinished(() => fabric.close())
  await fabric.work([copyHandler])

  const execution = await fabric.submit(copy, bytes, { id: 'copy:1' })
  expect(await execution.result()).toEqual(bytes)
  expect(await found.fabric.execution(execution.id).result()).toEqual(bytes)
  // The digest of the input is the same from either side.
  expect((await found.fabric.submit(copy, bytes, { id: 'copy:1' })).id).toBe(execution.id)
})

test('programs without the key exchange values behind a server with it', async () => {
  const codec = encryption({ keys: mintCodecKeys(0) })
  const found = await served({ fabric: { codec } })
  found.fabric.engine()
  const fabric = await createFabric(found.url, { log: 'silent' })
  onTestFinished(() => fabric.close())
  const sealed = await found.fabric.submit(copy, bytes)
  await fabric.work([copyHandler])

  const execution = await fabric.submit(copy, bytes)
  expect(await execution.result()).toEqual(bytes)
  expect(await found.fabric.execution(execution.id).result()).toEqual(bytes)
  await until('the worker leaves what it cannot open to others', 60_000, async () => {
    const { refusals } = await fabric.describe(sealed.id)
    return (refusals?.count ?? 0) > 0 ? true : undefined
  })
})
