/** The built package and the command against a server behind TLS, as programs without access to the store use them. */
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { makeCertificate } from '../servers/certificate.ts'
import { errorIn, workplace } from './workplace.ts'
import type { Workplace } from './workplace.ts'

const PROGRAM = `
import { createFabric, signal, task } from 'flowfabric'
const greet = task('greet', { lane: 'people' })
const fabric = await createFabric(process.argv[2], { token: process.argv[3], log: 'silent' })
const worker = await fabric.work([
  greet.handle(async ({ name }, ctx) => {
    const greeting = await ctx.step('greet', () => \`Hello, \${name}\`)
    return \`\${greeting} \${await ctx.waitFor(signal('mark')).then(({ value }) => value)}\`
  }),
])
const execution = await fabric.submit(greet, { name: 'Ada' }, { id: 'greet:ada' })
await execution.signal('mark', '!')
console.log(await execution.result())
await fabric.close()
`

/** Ends TLS in front of a server, as a proxy does. */
async function withTls(place: Workplace, url: string) {
  const { certificateFile, keyFile } = await makeCertificate(place.folder)
  const [cert, key] = await Promise.all([certificateFile, keyFile].map((file) => readFile(file)))
  const { hostname, port } = new URL(url)
  const proxy = createServer({ cert, key }, (socket) => {
    const server = connect(Number(port), hostname)
    socket.on('error', () => server.destroy())
    server.on('error', () => socket.destroy())
    socket.pipe(server).pipe(socket)
  })
  // A client that does not trust the certificate breaks off.
  proxy.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void proxy.close())
  return { url: `https://localhost:${(proxy.address() as AddressInfo).port}`, certificateFile }
}

/** Starts a server with tokens, and returns where its proxy listens. */
async function start(place: Workplace) {
  const tokens: Record<string, string> = {}
  for (const role of ['worker', 'viewer', 'operator']) {
    const create = ['tokens', 'create', role, '--role', role, '--file', 'tokens.json']
    const { token } = await place.json<{ readonly token: string }>(...create)
    tokens[role] = token
    await place.write(`${role}.token`, token)
  }
  const server = place.start(['server', '--port', '0', '--json', '--tokens', 'tokens.json'])
  const [, url = ''] = await server.prints(/"url":"([^"]+)"/)
  return { tokens, ...(await withTls(place, url)) }
}

test('the built package works through TLS, and commands act by the role of their token', async () => {
  const place = await workplace()
  await place.install()
  await place.write('program.js', PROGRAM)
  const { tokens, url, certificateFile } = await start(place)
  const trusting = { NODE_EXTRA_CA_CERTS: certificateFile }

  const distrusted = await place.startNode(['program.js', url, tokens['worker'] ?? '']).end()
  expect([distrusted.code, distrusted.stdout]).toEqual([1, ''])
  const program = await place.startNode(['program.js', url, tokens['worker'] ?? ''], { env: trusting }).end()
  expect(program).toMatchObject({ code: 0, stdout: 'Hello, Ada !\n' })

  const command = async (role: string, ...args: string[]) => {
    const env = { ...trusting, FLOWFABRIC_STORE: url, FLOWFABRIC_REMOTE_TOKEN_FILE: `${role}.token` }
    return await place.run([...args, '--json'], { env })
  }
  const answered = async (role: string, ...args: string[]) => {
    const { code, stdout, stderr } = await command(role, ...args)
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`)
    const lines = stdout.trim().split('\n')
    return lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  }
  const refused = async (role: string, ...args: string[]) => errorIn(await command(role, ...args)).code

  expect(await answered('viewer', 'show', 'greet:ada')).toMatchObject([{ state: 'completed', task: 'greet' }])
  const steps = JSON.stringify(await answered('viewer', 'steps', 'greet:ada'))
  expect(steps).toContain('"name":"greet"')
  const events = await answered('viewer', 'events', 'greet:ada', '--family', 'executions')
  expect(events.map(({ event }) => (event as { readonly type: string }).type)).toContain('execution_ended')
  await answered('worker', 'submit', 'later', '--id', 'later:1', '--delay', '1h')
  expect(await refused('viewer', 'submit', 'later', '--id', 'later:2')).toBe('forbidden')
  expect(await refused('worker', 'cancel', 'later:1')).toBe('forbidden')
  await answered('operator', 'cancel', 'later:1', '--reason', 'not wanted')
  expect(await answered('viewer', 'show', 'later:1')).toMatchObject([{ state: 'cancelled' }])
  await answered('operator', 'lanes', 'pause', 'people', '--reason', 'lunch')
  expect(JSON.stringify(await answered('viewer', 'lanes'))).toContain('lunch')
  expect(await refused('operator', 'doctor')).toBe('invalid_configuration')

  await place.write('worker.token', 'wrong')
  expect(await refused('worker', 'list')).toBe('unauthorized')
})
