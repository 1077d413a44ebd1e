import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { chmod, chown, mkdtemp, readFile, readdir, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemRuntime, virtualRuntime } from '../../runtime/index.ts'
import { changeKeyFile, readKeyFile } from './key-file.ts'
import { KeyRing, mintKey, revealRing } from './key-ring.ts'

const HOUR_MS = 3_600_000
const NOBODY = 65_534
/** The files that this process has open, on Linux. */
const OPEN_FILES = '/proc/self/fd'
const runtime = systemRuntime()

let folder = ''
let file = ''
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-keys-'))
  file = path.join(folder, 'keys')
})
afterEach(async () => {
  await rm(folder, { recursive: true })
})

function rotate(ring: KeyRing | undefined): KeyRing {
  return ring === undefined ? KeyRing.begin(0) : ring.rotate(mintKey(1), HOUR_MS, 1)
}

async function modeOf(name: string): Promise<number> {
  return (await stat(name)).mode & 0o777
}

test('a new file is its owner’s alone and nothing else is left beside it', async () => {
  const nested = path.join(folder, 'etc', 'keys')

  const ring = await changeKeyFile(nested, runtime, rotate)

  expect(await modeOf(nested)).toBe(0o600)
  expect(await modeOf(path.dirname(nested))).toBe(0o700)
  expect(await readdir(path.dirname(nested))).toEqual(['keys'])
  expect(readKeyFile(nested).ring.current.id).toBe(ring.current.id)
})

test('a file that was open to others is closed to them by the next change', async () => {
  await changeKeyFile(file, runtime, rotate)
  await chmod(file, 0o644)

  await changeKeyFile(file, runtime, rotate)

  expect(await modeOf(file)).toBe(0o600)
})

test('changes at the same time come one after the other, and none is lost', async () => {
  const rings = await Promise.all(Array.from({ length: 20 }, () => changeKeyFile(file, runtime, rotate)))

  const { ring } = readKeyFile(file)
  expect(new Set(rings.map(({ current }) => current.id)).size).toBe(20)
  expect(ring.keys.map(({ id }) => id).toSorted()).toEqual(rings.map(({ current }) => current.id).toSorted())
})

/** Processes take their time to start on a busy machine. */
const PROCESS_TIMEOUT_MS = 60_000

test('changes by several processes are not lost either', { timeout: PROCESS_TIMEOUT_MS }, async () => {
  const script = `
    import { changeKeyFile } from ${JSON.stringify(path.join(import.meta.dirname, 'key-file.ts'))}
    import { KeyRing, mintKey } from ${JSON.stringify(path.join(import.meta.dirname, 'key-ring.ts'))}
    import { systemRuntime } from ${JSON.stringify(path.join(import.meta.dirname, '../../runtime/index.ts'))}
    for (let i = 0; i < 5; i++) {
      await changeKeyFile(${JSON.stringify(file)}, systemRuntime(), (ring) => ring?.rotate(mintKey(1), 3_600_000, 1) ?? KeyRing.begin(0))
    }`
  const ends = await Promise.all(
    [1, 2].map(() => once(spawn(process.execPath, ['--input-type=module', '--eval', script]), 'close')),
  )

  expect(ends.map(([code]) => code as number)).toEqual([0, 0])
  expect(readKeyFile(file).ring.keys).toHaveLength(10)
})

test('a change that is refused leaves the file as it was', async () => {
  const { current } = await changeKeyFile(file, runtime, rotate)
  const before = await readFile(file, 'utf8')

  await expect(changeKeyFile(file, runtime, (ring) => ring!.retire(current.id))).rejects.toThrow('rotate first')

  expect(await readFile(file, 'utf8')).toBe(before)
  expect(await readdir(folder)).toEqual(['keys'])
})

test('a broken file is not written over', async () => {
  await writeFile(file, '{ "keys": ')

  await expect(changeKeyFile(file, runtime, rotate)).rejects.toThrow('is not JSON')

  expect(await readFile(file, 'utf8')).toBe('{ "keys": ')
})

test('what a broken-off change has left is not written into', async () => {
  const elsewhere = path.join(folder, 'elsewhere')
  await writeFile(elsewhere, '')
  await symlink(elsewhere, `${file}.new`)

  await changeKeyFile(file, runtime, rotate)

  expect(await readFile(elsewhere, 'utf8')).toBe('')
  expect(await modeOf(file)).toBe(0o600)
})

test('a link to the file stays one', async () => {
  const link = path.join(folder, 'link')
  await changeKeyFile(file, runtime, rotate)
  await symlink(file, link)

  const ring = await changeKeyFile(link, runtime, rotate)

  expect(await readlink(link)).toBe(file)
  expect(readKeyFile(file).ring.current.id).toBe(ring.current.id)
})

test('a link to a file that does not exist yet stays a link, and the file is created', async () => {
  const [link, chained] = [path.join(folder, 'link'), path.join(folder, 'chained')]
  await symlink('keys', link)
  await symlink('link', chained)

  const ring = await changeKeyFile(chained, runtime, rotate)

  expect([await readlink(link), await readlink(chained)]).toEqual(['keys', 'link'])
  expect(readKeyFile(file).ring.current.id).toBe(ring.current.id)
  expect((await readdir(folder)).toSorted()).toEqual(['chained', 'keys', 'link'])
})

test('links in a circle are refused', async () => {
  const other = path.join(folder, 'other')
  await symlink(other, file)
  await symlink(file, other)

  await expect(changeKeyFile(file, runtime, rotate)).rejects.toMatchObject({ code: 'ELOOP' })
})

test.runIf(process.getuid?.() === 0)('a rotation by root leaves the file to its owner', async () => {
  await changeKeyFile(file, runtime, rotate)
  for (const [uid, gid] of [
    [NOBODY, NOBODY],
    [NOBODY, 0],
    [0, NOBODY],
  ] as const) {
    await chown(file, uid, gid)

    await changeKeyFile(file, runtime, rotate)

    expect(await stat(file)).toMatchObject({ uid, gid })
    expect(await modeOf(file)).toBe(0o600)
  }
})

test('the wait for a lock that is not released is bounded, and the error names the lock', async () => {
  const clock = virtualRuntime()
  await writeFile(`${file}.lock`, '')
  const change = { isOver: false }
  const changing = changeKeyFile(file, clock, rotate).finally(() => (change.isOver = true))
  const refused = expect(changing).rejects.toMatchObject({
    code: 'invalid_keys',
    detail: { field: 'keys' },
    message: expect.stringContaining(`${file}.lock`) as string,
  })

  for (let passed = 0; !change.isOver && passed < 10_000; passed++) await clock.advance(100)

  await refused
  expect(clock.monotonic()).toBeGreaterThanOrEqual(5_000)
  expect(await readdir(folder)).toEqual(['keys.lock'])
})

test('a lock that was removed by hand meanwhile is no error', async () => {
  const ring = await changeKeyFile(file, runtime, (present) => {
    rmSync(`${file}.lock`)
    return rotate(present)
  })

  expect(readKeyFile(file).ring.current.id).toBe(ring.current.id)
})

test('a lock that cannot be taken at all is not waited for', async () => {
  const longest = path.join(folder, 'k'.repeat(252))

  await expect(changeKeyFile(longest, virtualRuntime(), rotate)).rejects.toMatchObject({ code: 'ENAMETOOLONG' })
})

test('a ring that would be too large to be read is not written', async () => {
  const { current } = await changeKeyFile(file, runtime, rotate)
  const { keys } = revealRing(KeyRing.begin(0))
  const retired = Array.from({ length: 17_000 }, (_, i) => `${i}`.padStart(60, 'k'))
  const large = KeyRing.parse({ keys, retired })

  await expect(changeKeyFile(file, runtime, () => large)).rejects.toMatchObject({
    code: 'invalid_keys',
    detail: { field: 'keys' },
    message: expect.stringContaining('would be larger than') as string,
  })
  expect(readKeyFile(file).ring.current.id).toBe(current.id)
})

test.runIf(existsSync(OPEN_FILES))('a change leaves no file open', async () => {
  const before = (await readdir(OPEN_FILES)).length
  for (let i = 0; i < 20; i++) await changeKeyFile(file, runtime, rotate)

  expect((await readdir(OPEN_FILES)).length).toBeLessThan(before + 10)
})
