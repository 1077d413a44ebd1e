/** `flowfabric server`, `flowfabric tokens` and the server of `flowfabric dev`, as processes. */
import { describe, expect, test } from 'vitest'
import { errorIn, workplace } from './workplace.ts'
import type { Running, Workplace } from './workplace.ts'

const HANDLERS = `
import { task } from 'flowfabric'
export const greet = task('greet').handle(({ name }) => \`Hello, \${name}\`)
`

/** Starts the server on a free port, and returns where it listens. */
async function start(place: Workplace, ...args: string[]): Promise<{ readonly server: Running; readonly url: string }> {
  const server = place.start(['server', '--port', '0', '--json', ...args])
  const [, url = ''] = await server.prints(/"url":"([^"]+)"/)
  return { server, url }
}

async function post(url: string, body: unknown, token?: string): Promise<Response> {
  return await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  })
}

describe('flowfabric server', () => {
  test('serves the store that other commands and workers use, and ends at SIGTERM', async () => {
    const place = await workplace()
    const { server, url } = await start(place)
    expect(
      (await post(`${url}/v1/executions`, { task: 'greet', input: { name: 'Ada' }, id: 'greet:ada' })).status,
    ).toBe(201)
    expect(await place.json('show', 'greet:ada')).toMatchObject({ task: 'greet', state: 'waiting' })
    const why = { reason: 'the customer left', by: 'ada' }
    expect((await post(`${url}/v1/executions/greet:ada/cancel`, why)).status).toBe(200)
    expect(await place.json('audit', '--by', 'ada')).toMatchObject({ items: [{ action: 'cancelExecution', ...why }] })
    expect((await place.run(['audit'])).stdout).toMatch(/ ada .* cancelExecution +greet:ada +done .*the customer left/)

    const { code, stdout } = await server.endBy('SIGTERM')
    expect([code, stdout.trim().split('\n').at(-1)]).toEqual([0, '{"kind":"stopped"}'])
  })

  test('that is stopped under load loses nothing that it has acknowledged', async () => {
    const place = await workplace()
    const { server, url } = await start(place)
    const acknowledged: string[] = []
    const load = Array.from({ length: 4 }, async (_, lane) => {
      for (let i = 0; ; i++) {
        const id = `${lane}:${i}`
        // A refused or a broken connection ends the load.
        const response = await post(`${url}/v1/executions`, { task: 'greet', id }).catch(() => undefined)
        if (response?.status !== 201) return
        acknowledged.push(id)
        if (acknowledged.length === 100) server.kill('SIGTERM')
      }
    })
    await Promise.all(load)
    expect((await server.end()).code).toBe(0)
    expect(acknowledged.length).toBeGreaterThanOrEqual(100)

    const listed = new Set<string>()
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page: { items: { key: string }[]; cursor?: string } = await place.json(
        'list',
        '--limit',
        '200',
        ...(cursor === '' ? [] : ['--cursor', cursor]),
      )
      for (const { key } of page.items) listed.add(key)
      cursor = page.cursor
    }
    expect(acknowledged.filter((id) => !listed.has(id))).toEqual([])
  })

  test('needs tokens on a public address, which take effect and end without a restart', async () => {
    const place = await workplace()
    const refused = await place.run(['server', '--host', '0.0.0.0', '--port', '0', '--json'])
    expect(errorIn(refused)).toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining('--tokens') as string,
    })

    const create = ['tokens', 'create', '--file', 'tokens.json', '--role']
    const { token } = await place.json<{ token: string }>(...create, 'worker', 'app')
    const { server, url } = await start(place, '--host', '0.0.0.0', '--tokens', 'tokens.json')
    const submit = `${url.replace('0.0.0.0', '127.0.0.1')}/v1/executions`
    expect((await post(submit, { task: 'greet' })).status).toBe(401)
    expect((await post(submit, { task: 'greet' }, token)).status).toBe(201)
    expect((await place.run([...create, 'worker', 'app'])).code).toBe(2)
    const listed = await place.run(['tokens', 'list', '--file', 'tokens.json'])
    expect(listed.stdout).toMatch(/^app +worker +\(all\) /m)
    expect(listed.stdout).not.toContain(token)

    await place.json('tokens', 'revoke', 'app', '--file', 'tokens.json')
    const endsAt = Date.now() + 20_000
    let status = 201
    while (status === 201 && Date.now() < endsAt) status = (await post(submit, { task: 'greet' }, token)).status
    expect(status).toBe(401)
    expect((await server.endBy('SIGINT')).code).toBe(0)
  })

  test('refuses a port that is taken, and a file of tokens that does not exist', async () => {
    const place = await workplace()
    const { server, url } = await start(place)
    const taken = await place.run(['server', '--port', new URL(url).port, '--json'])
    expect(errorIn(taken)).toMatchObject({
      message: expect.stringContaining('another program listens there') as string,
    })
    const missing = await place.run(['server', '--port', '0', '--tokens', 'nowhere.json', '--json'])
    expect(errorIn(missing)).toMatchObject({ code: 'invalid_configuration' })
    await server.endBy('SIGTERM')
  })
})

test('flowfabric dev runs what is submitted over HTTP', async () => {
  const place = await workplace()
  await place.install()
  await place.write('handlers.ts', HANDLERS)
  const dev = place.start(['dev', 'handlers.ts', '--no-watch', '--port', '0', '--json'])
  const [, url = ''] = await dev.prints(/"url":"([^"]+)"/)
  await post(`${url}/v1/executions`, { task: 'greet', input: { name: 'Ada' }, id: 'greet:ada' })
  const result = await fetch(`${url}/v1/executions/greet:ada/result?wait=20s`)
  expect(await result.json()).toMatchObject({ outcome: 'completed', result: 'Hello, Ada' })
  expect((await dev.endBy('SIGTERM')).code).toBe(0)
})

test('a program that mounts the API imports it by its name, and other programs do not load it', async () => {
  const place = await workplace()
  await place.install()
  await place.write(
    'mounted.ts',
    `
import { createFabric } from 'flowfabric'
import { createHandler } from 'flowfabric/server'
await using fabric = await createFabric('memory:')
const handler = createHandler(fabric)
const response = await handler(new Request('http://localhost/v1/health'))
console.log(await response.text())
`,
  )
  const mounted = await place.startNode(['mounted.ts']).end()
  expect(mounted).toMatchObject({ code: 0, stdout: '{"status":"ok"}\n' })
  // Resolving is refused, so a program that needs the library of schemas would fail.
  await place.write(
    'plain.ts',
    `
import { registerHooks } from 'node:module'
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'zod') throw new Error('zod is loaded')
    return next(specifier, context)
  },
})
await import('flowfabric')
await import('flowfabric/worker')
await import('flowfabric/testing')
console.log('loaded')
`,
  )
  expect(await place.startNode(['plain.ts']).end()).toMatchObject({ code: 0, stdout: 'loaded\n' })
})
