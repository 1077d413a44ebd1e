import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { changeKeyFile, KeyRing, mintKey, task } from '../client/index.ts'
import { Tokens } from '../client/tokens/token.ts'
import { silentLog, systemRuntime } from '../runtime/index.ts'
import { createFabric } from './fabric.ts'
import type { FabricOptions } from './fabric.ts'

const greetHandler = task<string, string>('greet').handle((name) => `Hello, ${name}`)
const claims = { executionId: '0-a', waitpointId: '0-a review', target: 'review', generation: 1, openedAt: 1 }

let folder = ''
let file = ''
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-keys-'))
  file = path.join(folder, 'keys')
  vi.stubEnv('FLOWFABRIC_KEYS_FILE', undefined)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true })
})

function fabricWith(options: FabricOptions = {}, store = 'memory:') {
  return createFabric(store, { log: 'silent', ...options })
}

test('the keys of a file sign, whether the option or the environment names it', async () => {
  const { current } = await changeKeyFile(file, systemRuntime(), () => KeyRing.begin(0))
  await using first = await fabricWith({ keys: { file } })
  vi.stubEnv('FLOWFABRIC_KEYS_FILE', file)
  await using second = await fabricWith()

  const token = first.tokens.issue(claims)

  expect(second.tokens.keyId).toBe(current.id)
  expect(second.tokens.verify(token)).toMatchObject(claims)
})

test('a file that is named but missing, empty or broken refuses to start, and leaves no store behind', async () => {
  const store = `sqlite:${path.join(folder, 'a.db')}`
  await expect(fabricWith({ keys: { file } }, store)).rejects.toMatchObject({ code: 'signing_keys_missing' })
  await writeFile(file, '')
  await expect(fabricWith({ keys: { file } }, store)).rejects.toMatchObject({ code: 'signing_keys_missing' })
  await writeFile(file, '{}')
  await expect(fabricWith({ keys: { file } }, store)).rejects.toMatchObject({ code: 'invalid_keys' })

  expect(await readdir(folder)).toEqual(['keys'])
})

test('a fresh process refuses an old copy of the file, and an answer with it is refused too', async () => {
  const store = `sqlite:${path.join(folder, 'a.db')}`
  const first = await changeKeyFile(file, systemRuntime(), () => KeyRing.begin(0))
  const old = await readFile(file, 'utf8')
  const token = new Tokens(first, systemRuntime(), silentLog).issue(claims)
  const next = await changeKeyFile(file, systemRuntime(), (ring) => ring!.rotate(mintKey(1), 0, 1))
  await changeKeyFile(file, systemRuntime(), () => next.retire(first.current.id))
  await (await fabricWith({ keys: { file } }, store)).close()

  await writeFile(file, old)

  await expect(fabricWith({ keys: { file } }, store)).rejects.toMatchObject({ code: 'invalid_keys' })
  await using lazy = await fabricWith({ keys: { isLazy: true, ring: () => first } }, store)
  await expect(lazy.answer(token, 'approve')).rejects.toMatchObject({ code: 'invalid_keys' })
})

test('without keys all goes well until a token is asked for', async () => {
  await using fabric = await fabricWith()
  await using _worker = await fabric.work([greetHandler])

  expect(fabric.tokens.keyId).toBeUndefined()
  expect(() => fabric.tokens.issue(claims)).toThrow(expect.objectContaining({ code: 'signing_keys_missing' }) as Error)
})

test('keys are asked for when a token is issued, in production too', async () => {
  vi.stubEnv('NODE_ENV', 'production')
  await using fabric = await fabricWith()
  const linking = task('linking').handle(async (_, ctx) => (await ctx.waitpoint('review')).token())
  await using _worker = await fabric.work([greetHandler, linking])

  expect(await (await fabric.submit(task<string, string>('greet'), 'Ada')).result()).toBe('Hello, Ada')
  const refusal: unknown = await (await fabric.submit(task('linking'), 1)).result().catch((error: unknown) => error)
  expect(refusal).toMatchObject({ message: expect.stringContaining('No keys to sign tokens') as string })
})

test('a fabric shows no secret, however deeply it is printed', async () => {
  const ring = KeyRing.begin(0)
  await using fabric = await fabricWith({ keys: ring })

  expect(inspect(fabric, { depth: 10, showHidden: true })).not.toContain(ring.current.secret.reveal())
})
