import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { silentLog, systemRuntime } from '../../runtime/index.ts'
import { changeKeyFile } from './key-file.ts'
import { KeyRing } from './key-ring.ts'
import { openKeys } from './keys-option.ts'
import type { KeysOption } from './keys-option.ts'

const runtime = systemRuntime()

let file = ''
beforeEach(async () => {
  file = path.join(await mkdtemp(path.join(tmpdir(), 'flowfabric-keys-')), 'keys')
})
afterEach(async () => {
  await rm(path.dirname(file), { recursive: true })
})

function open(option: KeysOption | undefined, environment: Record<string, string> = {}) {
  return openKeys(option, environment, runtime, silentLog)
}

test('the option counts, then the variable, and nothing is nothing', async () => {
  const { current } = await changeKeyFile(file, runtime, () => KeyRing.begin(0))
  const variable = { FLOWFABRIC_KEYS_FILE: file }
  const ring = KeyRing.begin(0)

  expect(open({ file })?.ring()?.current.id).toBe(current.id)
  expect(open(undefined, variable)?.ring()?.current.id).toBe(current.id)
  expect(open(ring, variable)).toBe(ring)
  expect(open('none', variable)?.ring()).toBeUndefined()
  expect(open(undefined)).toBeUndefined()
  expect(open(undefined, { FLOWFABRIC_KEYS_FILE: '' })).toBeUndefined()
})

test('a file that is named and not there is refused at once', () => {
  expect(() => open({ file })).toThrow(`The file ${file} does not exist.`)
  expect(() => open(undefined, { FLOWFABRIC_KEYS_FILE: file })).toThrow(`The file ${file} does not exist.`)
})

test.each([{}, { file: '' }, { file: 5 }, { keys: [{ id: 'a', secret: 'hush' }] }, 'some', 17, null])(
  '%j is not what keys can be, and is not shown',
  (option) => {
    expect(() => open(option as unknown as KeysOption)).toThrow(/^[^]*keys must be \{ file: [^]*$/)
    expect(() => open(option as unknown as KeysOption)).not.toThrow('hush')
    expect(() => open(option as unknown as KeysOption)).toThrow(
      expect.objectContaining({
        code: 'invalid_configuration',
        detail: expect.objectContaining({ field: 'keys' }) as object,
      }) as Error,
    )
  },
)

test('a function is no source of keys, whatever it has', async () => {
  await changeKeyFile(file, runtime, () => KeyRing.begin(0))
  const option = Object.assign(() => undefined, { file })

  expect(() => open(option as unknown as KeysOption)).toThrow('keys must be')
})
