import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { silentLog, virtualRuntime } from '../../runtime/index.ts'
import { KeyFile, changeKeyFile, readKeyFile } from './key-file.ts'
import { KeyRing, noKeys } from './key-ring.ts'
import { Tokens } from './token.ts'

const GRACE_MS = 500

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-keys-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true })
})

async function opened() {
  const file = path.join(folder, 'keys')
  const runtime = virtualRuntime(1_000)
  const first = await changeKeyFile(file, runtime, () => KeyRing.begin(7))
  const keys = new KeyFile(file, runtime, silentLog)
  return { file, runtime, first: first.current.id, keys, tokens: new Tokens(keys, runtime, silentLog) }
}

test('a rotation adds a key to the file, which signs at once, and ends the one before', async () => {
  const { file, runtime, first, tokens } = await opened()
  expect(tokens.keys()).toEqual([{ id: first, createdAt: 7, notAfter: undefined, isCurrent: true }])

  const after = await tokens.rotate(GRACE_MS, runtime)

  const { current } = readKeyFile(file).ring
  expect(after).toHaveLength(2)
  expect(after).toEqual(
    expect.arrayContaining([
      { id: first, createdAt: 7, notAfter: 1_000 + GRACE_MS, isCurrent: false },
      { id: current.id, createdAt: 1_000, notAfter: undefined, isCurrent: true },
    ]),
  )
  expect([tokens.keyId, tokens.keys()]).toEqual([current.id, after])
})

test('a rotation of a file that is gone begins a ring', async () => {
  const { file, runtime, first, keys } = await opened()
  await rm(file)

  const ring = await keys.rotateStored(GRACE_MS, runtime)

  expect(ring.keys.map(({ createdAt }) => createdAt)).toEqual([1_000])
  expect(ring.find(first)).toBeUndefined()
})

test('keys that are not in a file, or do not exist, are not rotated', async () => {
  const runtime = virtualRuntime(1_000)
  const given = new Tokens(KeyRing.begin(0), runtime, silentLog)
  const none = new Tokens(noKeys, runtime, silentLog)

  await expect(given.rotate(GRACE_MS, runtime)).rejects.toMatchObject({
    code: 'forbidden',
    detail: { message: expect.stringContaining('not in a file') as string },
  })
  await expect(none.rotate(GRACE_MS, runtime)).rejects.toMatchObject({ code: 'signing_keys_missing' })
  expect(none.keys()).toEqual([])
})

test('a key that verifies only is retired, and not the one that signs', async () => {
  const { file, runtime, first, tokens } = await opened()
  await expect(tokens.retire(first, runtime)).rejects.toMatchObject({ code: 'invalid_input' })
  await tokens.rotate(GRACE_MS, runtime)

  const left = await tokens.retire(first, runtime)

  expect(left).toEqual([expect.objectContaining({ isCurrent: true })])
  expect(readKeyFile(file).ring.retired).toEqual([first])
  await expect(tokens.retire(first, runtime)).rejects.toMatchObject({ code: 'invalid_input' })
  const given = new Tokens(KeyRing.begin(0), runtime, silentLog)
  await expect(given.retire(first, runtime)).rejects.toMatchObject({ code: 'forbidden' })
})
