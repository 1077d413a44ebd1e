import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { inspect, promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { virtualRuntime } from '../../runtime/index.ts'
import type { Log } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { KEY_RING_STALE_MAX_MS, KeyFile, changeKeyFile, readKeyFile } from './key-file.ts'
import { KeyRing, mintKey, revealRing } from './key-ring.ts'
import { PRIVATE_FILE_MAX_BYTES, fileErrorCode } from './private-file.ts'

const run = promisify(execFile)
const HOUR_MS = 3_600_000
const NOBODY = 65_534
/** The files that this process has open, on Linux. */
const OPEN_FILES = '/proc/self/fd'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-keys-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true })
})

/** A file with a ring, a process that has it open, and the lines that the process has logged. */
async function opened() {
  const file = path.join(folder, 'keys')
  const runtime = virtualRuntime()
  const first = await changeKeyFile(file, runtime, () => KeyRing.begin(0))
  const lines: { readonly level: string; readonly text: string }[] = []
  const record = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, text: `${message} ${inspect(fields, { depth: null })}` })
  const log: Log = { debug: record('debug'), info: record('info'), warn: record('warn'), error: record('error') }
  return { file, runtime, first, lines, log, keys: new KeyFile(file, runtime, log) }
}

function rotate(ring: KeyRing | undefined): KeyRing {
  return ring!.rotate(mintKey(1), HOUR_MS, 1)
}

test('a rotation reaches a running process within a second', async () => {
  const { file, runtime, first, keys, lines } = await opened()
  const next = await changeKeyFile(file, runtime, rotate)

  await runtime.advance(999)
  expect(keys.ring().current.id).toBe(first.current.id)
  await runtime.advance(1)
  expect(keys.ring().current.id).toBe(next.current.id)
  expect(keys.ring().find(first.current.id)).toBeDefined()
  expect(lines).toMatchObject([{ level: 'info', text: expect.stringContaining(next.current.id) as string }])
})

test.each<[string, (file: string) => Promise<unknown>, string]>([
  ['is gone', (file) => rm(file), 'does not exist'],
  ['is empty', (file) => writeFile(file, ''), 'is empty'],
  ['holds blanks alone', (file) => writeFile(file, ' \n'), 'is empty'],
  ['is cut off', (file) => writeFile(file, '{ "keys": ['), 'is not JSON'],
  ['is no ring', (file) => writeFile(file, '{}'), 'keys must be a list'],
  ['is a folder', (file) => rm(file).then(() => mkdir(file)), 'is not a regular file'],
  ['is far too large', (file) => writeFile(file, ' '.repeat(PRIVATE_FILE_MAX_BYTES + 1)), 'is larger than'],
  ['is a pipe', (file) => rm(file).then(() => run('mkfifo', [file])), 'is not a regular file'],
  ['is a device', (file) => rm(file).then(() => symlink('/dev/zero', file)), 'is not a regular file'],
  ['is a link to nothing', (file) => rm(file).then(() => symlink('nowhere', file)), 'does not exist'],
])('a changed file that %s leaves the keys as they were, and is complained of once', async (_what, spoil, problem) => {
  const { file, runtime, first, keys, lines } = await opened()
  await spoil(file)

  for (let second = 0; second < 3; second++) {
    await runtime.advance(1_000)
    expect(keys.ring().current.id).toBe(first.current.id)
  }

  expect(lines).toMatchObject([{ level: 'error', text: expect.stringContaining(problem) as string }])
})

test('a file that is mended after it was broken is used again', async () => {
  const { file, runtime, first, keys } = await opened()
  await rename(file, `${file}.away`)
  await runtime.advance(1_000)
  expect(keys.ring().current.id).toBe(first.current.id)

  await rename(`${file}.away`, file)
  const next = await changeKeyFile(file, runtime, rotate)
  await runtime.advance(1_000)

  expect(keys.ring().current.id).toBe(next.current.id)
})

test('a retired key does not come back with an old copy of the file', async () => {
  const { file, runtime, first, keys, lines } = await opened()
  await changeKeyFile(file, runtime, rotate)
  const retired = await changeKeyFile(file, runtime, (ring) => ring!.retire(first.current.id))
  await runtime.advance(1_000)
  expect(keys.ring().find(first.current.id)).toBeUndefined()

  await writeFile(file, JSON.stringify(revealRing(first)))
  await runtime.advance(1_000)

  expect(keys.ring().current.id).toBe(retired.current.id)
  expect(keys.ring().find(first.current.id)).toBeUndefined()
  expect(lines.at(-1)).toMatchObject({ level: 'error', text: expect.stringContaining('was retired') as string })
})

test('a file that others may read is warned of', async () => {
  const { file, runtime, log, lines } = await opened()
  await chmod(file, 0o640)

  expect(new KeyFile(file, runtime, log).ring().current.id).toMatch(/^k/)

  expect(lines).toMatchObject([
    {
      level: 'warn',
      text: expect.stringContaining(
        `other users can read the signing keys; run chmod 600 on the file { file: '${file}'`,
      ) as string,
    },
  ])
})

test('a file that others may read while the process runs is warned of, once for each time', async () => {
  const { file, runtime, keys, lines } = await opened()
  const warnings: number[] = []
  for (const mode of [0o644, 0o644, 0o600, 0o604]) {
    await chmod(file, mode)
    await runtime.advance(1_000)
    keys.ring()
    warnings.push(lines.length)
  }

  expect(warnings).toEqual([1, 1, 1, 2])
  expect(new Set(lines.map(({ level }) => level))).toEqual(new Set(['warn']))
})

/** Runs as a user who may not read what belongs to others, even if the tests run as root. */
function unprivileged<T>(read: () => T): T {
  const self = process.geteuid?.()
  if (self !== 0) return read()
  process.seteuid?.(NOBODY)
  try {
    return read()
  } finally {
    process.seteuid?.(self)
  }
}

test('a retired key stays retired, though the new file could not be read when its change was noticed', async () => {
  const { file, runtime, first, keys } = await opened()
  await chmod(folder, 0o755)
  await changeKeyFile(file, runtime, rotate)
  await changeKeyFile(file, runtime, (ring) => ring!.retire(first.current.id))
  await chmod(file, 0o000)
  await runtime.advance(1_000)
  expect(unprivileged(() => keys.ring()).current.id).toBe(first.current.id)

  await chmod(file, 0o644)

  expect(unprivileged(() => keys.ring()).find(first.current.id)).toBeUndefined()
})

test('content that is replaced behind the same size and time is noticed', async () => {
  const { file, runtime, first, keys } = await opened()
  const before = JSON.stringify(revealRing(first.rotate(mintKey(1), HOUR_MS, 1)))
  const after = before.replace(`"notAfter":${HOUR_MS + 1}`, `"notAfter":${HOUR_MS - 1}`)
  await writeFile(file, before)
  await utimes(file, 1, 1)
  await runtime.advance(1_000)
  expect(keys.ring().find(first.current.id)?.notAfter).toBe(HOUR_MS + 1)

  await writeFile(file, after)
  await utimes(file, 1, 1)
  await runtime.advance(1_000)

  expect(after).toHaveLength(before.length)
  expect(keys.ring().find(first.current.id)?.notAfter).toBe(HOUR_MS - 1)
})

test('keys that cannot be compared with the file for too long are refused, until the file can be read', async () => {
  const { file, runtime, first, keys, lines } = await opened()
  await rename(file, `${file}.away`)
  await runtime.advance(KEY_RING_STALE_MAX_MS)
  expect(keys.ring().current.id).toBe(first.current.id)

  await runtime.advance(1)
  for (let i = 0; i < 3; i++) {
    expect(errorOf(() => keys.ring())).toMatchObject({
      code: 'signing_keys_stale',
      isRetryable: true,
      detail: { field: 'keys' },
      message: expect.stringContaining(file) as string,
    })
  }
  await rename(`${file}.away`, file)

  expect(keys.ring().current.id).toBe(first.current.id)
  expect(lines.map(({ level, text }) => [level, text.slice(0, 36)])).toEqual([
    ['error', 'the signing keys cannot be read; the'],
    ['error', 'the signing keys could not be read f'],
    ['info', 'the signing keys can be read again {'],
  ])
})

test('a process that did not use its keys for long refuses them at once if it cannot read the file', async () => {
  const { file, runtime, keys } = await opened()
  await runtime.advance(24 * HOUR_MS)
  await rm(file)

  expect(errorOf(() => keys.ring())).toMatchObject({ code: 'signing_keys_stale' })
})

test('nothing is opened where nothing is', () => {
  expect(errorOf(() => readKeyFile(path.join(folder, 'nothing')))).toMatchObject({ code: 'signing_keys_missing' })
})

test('neither an error nor a line of the log shows what is in the file', async () => {
  const { file, runtime, first, keys, lines } = await opened()
  const secret = first.current.secret.reveal()
  const texts: string[] = []
  for (const text of [
    secret,
    `{"keys":"${secret}"}`,
    `{"keys":[{"id":"a","secret":"${secret}!"}]}`,
    `{"${secret}":1}`,
  ]) {
    await writeFile(file, text)
    texts.push(
      inspect(
        errorOf(() => readKeyFile(file)),
        { depth: null, showHidden: true },
      ),
    )
    await runtime.advance(1_000)
    keys.ring()
  }

  expect(lines.filter(({ level }) => level === 'error')).toHaveLength(4)
  for (const text of [...texts, ...lines.map((line) => line.text), inspect(keys, { depth: null, showHidden: true })]) {
    expect(text).not.toContain(secret.slice(0, 8))
  }
})

function errorOf(run: () => unknown): EngineError {
  try {
    run()
  } catch (error) {
    if (error instanceof EngineError) return error
    throw error
  }
  throw new Error('Nothing was thrown.')
}

test('the file is checked once a second, also by a process that runs for long', async () => {
  const { file, runtime, log } = await opened()
  await runtime.advance(10_000)
  const keys = new KeyFile(file, runtime, log)
  const seen: string[] = []
  for (let i = 0; i < 3; i++) {
    const { current } = await changeKeyFile(file, runtime, rotate)
    await runtime.advance(999)
    seen.push(keys.ring().current.id === current.id ? 'early' : 'before')
    await runtime.advance(1)
    seen.push(keys.ring().current.id === current.id ? 'after' : 'late')
  }

  expect(seen).toEqual(['before', 'after', 'before', 'after', 'before', 'after'])
})

test('a file that cannot be read stays in use for the whole time, however long the process has run', async () => {
  const { file, runtime, first, keys } = await opened()
  await runtime.advance(24 * HOUR_MS)
  keys.ring()
  await rm(file)
  await runtime.advance(KEY_RING_STALE_MAX_MS)

  expect(keys.ring().current.id).toBe(first.current.id)
  await runtime.advance(1)
  expect(errorOf(() => keys.ring())).toMatchObject({ code: 'signing_keys_stale' })
})

test('every time that the file cannot be read is logged, and once how long', async () => {
  const { file, runtime, keys, lines } = await opened()
  for (let i = 0; i < 2; i++) {
    await rename(file, `${file}.away`)
    await runtime.advance(1_000)
    keys.ring()
    await runtime.advance(KEY_RING_STALE_MAX_MS)
    for (let use = 0; use < 2; use++) errorOf(() => keys.ring())
    await rename(`${file}.away`, file)
    for (let use = 0; use < 2; use++) keys.ring()
  }

  const [cannot, stale, again] = [
    'the signing keys cannot be read',
    'the signing keys could not be read for 60 s',
    'the signing keys can be read again',
  ]
  expect(lines.map(({ text }) => text.slice(0, text.search(/[;{]| and may/)).trim())).toEqual([
    ...[cannot, stale, again],
    ...[cannot, stale, again],
  ])
  for (const { text } of lines) expect(text).toContain(`file: '${file}'`)
  expect(lines[1]!.text).toContain('does not exist')
})

test('a file of the greatest size is read', async () => {
  const { file, first } = await opened()
  await writeFile(file, JSON.stringify(revealRing(first)).padEnd(PRIVATE_FILE_MAX_BYTES))

  expect(readKeyFile(file).ring.current.id).toBe(first.current.id)
})

test('an error names the file, the cause and the option', async () => {
  const { file } = await opened()
  await chmod(folder, 0o755)
  const problems: [() => Promise<unknown>, string, string][] = [
    [() => chmod(file, 0o000), 'invalid_keys', `The file ${file} cannot be read (EACCES).`],
    [
      () => chmod(file, 0o600).then(() => writeFile(file, '{}')),
      'invalid_keys',
      `${file}: In the key ring, keys must be a list.`,
    ],
    [() => writeFile(file, ''), 'signing_keys_missing', `The file ${file} is empty.`],
  ]
  for (const [spoil, code, message] of problems) {
    await spoil()
    const error =
      code === 'invalid_keys' && message.includes('EACCES')
        ? unprivileged(() => errorOf(() => readKeyFile(file)))
        : errorOf(() => readKeyFile(file))
    expect(error).toMatchObject({ code, detail: { field: 'keys', message } })
  }
})

test.runIf(existsSync(OPEN_FILES))('reading leaves no file open', async () => {
  const { file } = await opened()
  const before = (await readdir(OPEN_FILES)).length
  for (let i = 0; i < 50; i++) readKeyFile(file)

  expect((await readdir(OPEN_FILES)).length).toBeLessThan(before + 25)
})

test.each<[unknown, string]>([
  [Object.assign(new Error('no'), { code: 'ENOENT' }), 'ENOENT'],
  [new Error('no'), 'unknown'],
  [{ code: 'ENOENT' }, 'unknown'],
  ['ENOENT', 'unknown'],
])('the code of %o is %s', (error, code) => {
  expect(fileErrorCode(error)).toBe(code)
})
