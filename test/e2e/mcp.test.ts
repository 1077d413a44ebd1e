import { readFile, symlink } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { connectClient, connectWithTasks } from './mcp-client.ts'
import { root, workplace } from './workplace.ts'
import type { Workplace } from './workplace.ts'

const TASKS = `import { approval, signal, task } from 'flowfabric'
import { z } from 'zod'
const input = z.object({ image: z.string() }).describe('Deploys an image after a review.')
export const deploy = task('shop.deploy', { input, signals: { slot: z.object({ hour: z.number() }) } })
export const double = task('double', { input: z.number() })
export const sleepy = task('sleepy')
export const deployHandler = deploy.handle(async ({ image }, ctx) => {
  console.log('this would break the protocol')
  await ctx.summary.patch({ stage: 'review' })
  const review = await ctx.waitFor('review', approval({ of: ['ada', 'bob'] }))
  if (!review.ok) throw new Error('the review is ' + review.reason)
  const slot = await ctx.waitFor('slot', signal('slot', { schema: deploy.signals.slot }))
  return { image, by: review.votes[0].by.identity, note: review.votes[0].value?.note, hour: slot.value.hour }
})
export const doubleHandler = double.handle((n) => 2 * n)
export const sleepyHandler = sleepy.handle((_input, ctx) => ctx.sleep('long', '1d'))
`

/** Reports where it is, and never ends its second step in the first process. */
const BUILD = `import { createFabric, task } from 'flowfabric'
import { build } from './build-task.mjs'
const [mode] = process.argv.slice(2)
const handler = build.handle(async ({ image }, ctx) => {
  const layers = await ctx.step('pull', () => { console.log('pulled by ' + mode); return 3 })
  await ctx.progress(50, 'pulled')
  await ctx.step('push', () => mode === 'first' ? (console.log('stuck'), new Promise(() => {})) : 'pushed')
  return { image, layers }
})
const fabric = await createFabric('sqlite:./flowfabric.db')
await fabric.work([handler], { leaseTtl: '2s' })
console.log('ready')
`
const BUILD_TASK = `import { task } from 'flowfabric'
import { z } from 'zod'
export const build = task('build', { input: z.object({ image: z.string() }) })
`

async function placeWith(files: Readonly<Record<string, string>>): Promise<Workplace> {
  const place = await workplace()
  await place.install()
  await symlink(path.join(root, 'node_modules/zod'), place.path('node_modules/zod'), 'dir')
  for (const [name, text] of Object.entries(files)) await place.write(name, text)
  return place
}

function textIn(result: unknown): string {
  const { content } = result as { content: { text: string }[] }
  return content.map(({ text }) => text).join('\n')
}

test.each(['legacy', 'auto'] as const)(
  'a client without tasks calls tools and answers an approval (%s)',
  async (era) => {
    const place = await placeWith({ 'tasks.mjs': TASKS })
    const { client } = await connectClient(place, ['tasks.mjs', '--work', '--by', 'ada'], era, {
      capabilities: { elicitation: { form: {} } },
    })
    const asked: string[] = []
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message)
      return params.message.includes('approval')
        ? { action: 'accept', content: { decision: 'approve', note: 'go' } }
        : { action: 'accept', content: { hour: 9 } }
    })

    const { tools } = await client.listTools()
    const progress: (string | undefined)[] = []
    const onprogress = ({ message }: { message?: string | undefined }) => progress.push(message)
    const deployed = await client.callTool({ name: 'shop_deploy', arguments: { image: 'a:1' } }, { onprogress })
    const refused = await client.callTool({ name: 'shop_deploy', arguments: { img: 'a:1' } })
    const doubled = await client.callTool({ name: 'double', arguments: { input: 21 } })

    expect(tools.map(({ name }) => name)).toEqual([
      'shop_deploy',
      'double',
      'sleepy',
      'flowfabric_wait',
      'flowfabric_cancel',
    ])
    expect(tools[0]).toMatchObject({
      title: 'shop.deploy',
      description: 'Deploys an image after a review.',
      inputSchema: { type: 'object', properties: { image: { type: 'string' } }, required: ['image'] },
    })
    expect(deployed.structuredContent).toEqual({ image: 'a:1', by: 'ada', note: 'go', hour: 9 })
    expect(asked).toEqual([expect.stringContaining("'review'"), expect.stringContaining("'slot'")])
    expect(progress).toContain('{"stage":"review"}')
    expect(refused.isError).toBe(true)
    expect(textIn(refused)).toContain('input.image')
    expect(textIn(doubled)).toBe('42')
  },
)

test('a call that takes long returns, and other tools wait for its execution or cancel it', async () => {
  const place = await placeWith({ 'tasks.mjs': TASKS })
  const { client } = await connectClient(place, ['tasks.mjs', '--work', '--wait', '100ms'], 'auto')

  const slept = textIn(await client.callTool({ name: 'sleepy', arguments: {} }))
  const execution = /execution (\S+) has not ended/.exec(slept)?.[1]
  const waited = textIn(await client.callTool({ name: 'flowfabric_wait', arguments: { execution } }))
  const cancelled = textIn(await client.callTool({ name: 'flowfabric_cancel', arguments: { execution } }))
  const ended = await client.callTool({ name: 'flowfabric_wait', arguments: { execution } })
  const unknown = await client.callTool({ name: 'flowfabric_wait', arguments: { execution: 'nothing' } })

  expect(waited).toContain(`${String(execution)} has not ended`)
  expect(cancelled).toBe('cancelled')
  expect(ended).toMatchObject({ isError: true })
  expect(textIn(ended)).toContain('cancelled')
  expect(unknown).toMatchObject({ isError: true })
})

test('a task outlives the worker and the server, and both continue after a kill', async () => {
  const place = await placeWith({ 'build-task.mjs': BUILD_TASK, 'worker.mjs': BUILD })
  const first = place.startNode(['worker.mjs', 'first'])
  await first.prints(/ready/)
  const client = await connectWithTasks(place, ['build-task.mjs'])
  const execution = await client.session.callTool('build', { image: 'a:1' })
  if (execution.kind !== 'task') expect.fail('the call was answered without a task')
  await first.prints(/stuck/)
  const seen = await client.session.task(execution.handle.taskId).snapshot()
  const reference = execution.serializeReference()

  process.kill(client.pid, 'SIGKILL')
  await first.endBy('SIGKILL')
  const second = place.startNode(['worker.mjs', 'second'])
  await second.prints(/ready/)
  const later = await connectWithTasks(place, ['build-task.mjs'])
  const resumed = await later.session.resumeTask(reference)
  const { outcome } = await resumed.settle()

  expect(seen).toMatchObject({ status: 'working', statusMessage: '50 % pulled' })
  expect(outcome).toMatchObject({
    status: 'completed',
    result: { structuredContent: { image: 'a:1', layers: 3 } },
  })
  expect(second.stdout).not.toContain('pulled by second')
})

test('a task asks for an approval, follows the answer, and is cancelled', async () => {
  const place = await placeWith({ 'tasks.mjs': TASKS })
  const { session } = await connectWithTasks(place, ['tasks.mjs', '--work', '--by', 'bob'], async (request) => {
    if (request.kind !== 'elicitation') expect.fail('only elicitations are expected')
    const isVote = JSON.stringify(request.params).includes('approval')
    const content = isVote ? { decision: 'approve' } : { hour: 10 }
    return { action: 'accept', content } as never
  })

  const { outcome } = await (await session.callTool('shop_deploy', { image: 'a:2' })).settle()
  const sleeping = await session.callTool('sleepy', {})
  await sleeping.cancel()
  const cancelled = await sleeping.result()

  expect(outcome).toMatchObject({ status: 'completed', result: { structuredContent: { by: 'bob', hour: 10 } } })
  expect(cancelled.status).toBe('cancelled')
})

test('a declined approval rejects it, and a failed execution is the failed result of its call', async () => {
  const place = await placeWith({ 'tasks.mjs': TASKS })
  const { session } = await connectWithTasks(
    place,
    ['tasks.mjs', '--work', '--by', 'ada'],
    async () => ({ action: 'decline' }) as never,
  )

  const { outcome } = await (await session.callTool('shop_deploy', { image: 'a:3' })).settle()

  expect(outcome).toMatchObject({ status: 'completed', result: { isError: true } })
  expect(JSON.stringify(outcome)).toContain('the review is rejected')
})

test('with the address of a server as its store, the role and the namespace of its token apply', async () => {
  const place = await placeWith({ 'tasks.mjs': TASKS })
  const tokens = async (role: string) => {
    const create = ['tokens', 'create', role, '--role', role, '--namespace', 'acme', '--file', 'tokens.json']
    await place.write(`${role}.token`, (await place.json<{ readonly token: string }>(...create)).token)
  }
  await tokens('operator')
  await tokens('viewer')
  const store = `sqlite:${place.path('flowfabric.db')}`
  const server = place.start(['server', '--port', '0', '--json', '--tokens', 'tokens.json', '--store', store])
  const [, url = ''] = await server.prints(/"url":"([^"]+)"/)
  const settings = (role: string) =>
    place.write('flowfabric.config.json', JSON.stringify({ store: url, remote: { tokenFile: `${role}.token` } }))

  await settings('operator')
  const { session } = await connectWithTasks(place, ['tasks.mjs', '--work', '--by', 'bob'], async ({ params }) => {
    const isVote = JSON.stringify(params).includes('approval')
    return { action: 'accept', content: isVote ? { decision: 'approve' } : { hour: 10 } } as never
  })
  const { outcome } = await (await session.callTool('shop_deploy', { image: 'a:4' })).settle()
  await settings('viewer')
  const { client } = await connectClient(place, ['tasks.mjs'], 'auto')
  const refused = await client.callTool({ name: 'double', arguments: { input: 4 } })

  expect(outcome).toMatchObject({ status: 'completed', result: { structuredContent: { image: 'a:4', by: 'bob' } } })
  const { stdout } = await place.run(['list', '--store', store, '--namespace', 'acme', '--json'])
  expect(stdout).toContain('shop.deploy')
  expect(stdout).not.toContain('double')
  expect([refused.isError, textIn(refused)]).toEqual([true, expect.stringContaining('needs the role worker')])
})

test('a vote of another person leaves the task waiting, and is asked for once', async () => {
  const place = await placeWith({ 'tasks.mjs': TASKS })
  const { send } = await connectWithTasks(place, ['tasks.mjs', '--work', '--by', 'eve'])
  const ask = async (method: string, params: object, extensions: object = { 'io.modelcontextprotocol/tasks': {} }) =>
    await send({
      method,
      params: {
        ...params,
        _meta: {
          'flowfabric/id': 'deploy:7',
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} }, extensions },
        },
      },
    } as never)
  const call = { name: 'shop_deploy', arguments: { image: 'a:4' } }

  const [created, again] = [await ask('tools/call', call), await ask('tools/call', call)]
  const { taskId } = (created as unknown as { result: { taskId: string } }).result
  const question = await expect
    .poll(async () => await ask('tasks/get', { taskId }), { timeout: 60_000 })
    .toMatchObject({ result: { status: 'input_required' } })
    .then(async () => (await ask('tasks/get', { taskId })) as unknown as { result: { inputRequests: object } })
  const [key = ''] = Object.keys(question.result.inputRequests)
  await ask('tasks/update', {
    taskId,
    inputResponses: { [key]: { action: 'accept', content: { decision: 'approve' } } },
  })
  const waiting = await ask('tasks/get', { taskId })
  const foreign = await ask('tasks/get', { taskId: '0-00000000-0000-7000-8000-000000000000' })
  const undeclared = await ask('tasks/get', { taskId }, {})

  expect(again).toMatchObject({ result: { resultType: 'task', taskId } })
  expect(waiting).toMatchObject({
    result: { status: 'working', _meta: { 'flowfabric/summary': { stage: 'review' } } },
  })
  expect(foreign).toMatchObject({ error: { code: -32602 } })
  expect(undeclared).toMatchObject({ error: { code: -32021 } })
})

test('an assistant uses the tasks of the example', async () => {
  const example = await readFile(path.join(root, 'examples/mcp-tools.ts'), 'utf8')
  const place = await placeWith({ 'tools.ts': example.replace('../src/index.ts', 'flowfabric') })
  const { client } = await connectClient(place, ['tools.ts', '--work'], 'auto', {
    capabilities: { elicitation: { form: {} } },
  })
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { decision: 'approve' } }))

  const order = await client.callTool({ name: 'orders_find', arguments: { id: 'A-17' } })
  const refund = { order: 'A-17', cents: 500, reason: 'broken' }
  const refunded = await client.callTool({ name: 'orders_refund', arguments: refund })

  expect(order.structuredContent).toEqual({ id: 'A-17', cents: 1_999 })
  expect(refunded.structuredContent).toMatchObject({ refunded: 500 })
})
