import { readFile, stat } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { errorIn, workplace } from './workplace.ts'
import type { Workplace } from './workplace.ts'

interface Rotated {
  readonly file: string
  readonly id: string
  readonly previous?: { readonly id: string; readonly notAfter: number }
}

interface Listed {
  readonly file: string
  readonly keys: readonly { readonly id: string; readonly isCurrent: boolean; readonly notAfter?: number }[]
  readonly retired: readonly string[]
}

async function secretsIn(place: Workplace, name: string): Promise<string[]> {
  const ring = JSON.parse(await readFile(place.path(name), 'utf8')) as { keys: { secret: string }[] }
  return ring.keys.map(({ secret }) => secret)
}

test('keys are made, rotated, listed and retired, and no secret is ever printed', async () => {
  const place = await workplace()
  const first = await place.json<Rotated>('keys', 'rotate')
  const second = await place.json<Rotated>('keys', 'rotate', '--grace', '2h')
  const secrets = await secretsIn(place, 'flowfabric.db.keys')

  expect(first.previous).toBeUndefined()
  expect(second.previous).toMatchObject({ id: first.id })
  expect((await stat(place.path('flowfabric.db.keys'))).mode & 0o777).toBe(0o600)
  expect(place.has('flowfabric.db')).toBe(false)

  const listed = await place.json<Listed>('keys', 'list')
  expect(listed.keys).toMatchObject([
    { id: first.id, isCurrent: false, notAfter: second.previous?.notAfter },
    { id: second.id, isCurrent: true },
  ])

  const texts = [
    await place.run(['keys', 'list']),
    await place.run(['keys', 'list', '--json']),
    await place.run(['keys', 'retire', second.id]),
    await place.run(['keys', 'retire', first.id]),
    await place.run(['keys', 'rotate']),
  ]
  expect(texts.map(({ code }) => code)).toEqual([0, 0, 2, 0, 0])
  expect(texts[2]?.stderr).toContain('rotate first')
  for (const secret of secrets) expect(JSON.stringify(texts)).not.toContain(secret)
  expect((await place.json<Listed>('keys', 'list')).retired).toEqual([first.id])
})

test('concurrent rotations all take effect', async () => {
  const place = await workplace()
  const rotated = await Promise.all([1, 2, 3, 4].map(() => place.json<Rotated>('keys', 'rotate', '--file', 'ring')))

  const { keys } = await place.json<Listed>('keys', 'list', '--file', 'ring')

  expect(keys.map(({ id }) => id).toSorted()).toEqual(rotated.map(({ id }) => id).toSorted())
})

test('an error names the problem of the key file, and never its content', async () => {
  const place = await workplace()
  expect(errorIn(await place.run(['keys', 'list', '--json'])).code).toBe('signing_keys_missing')
  expect(errorIn(await place.run(['keys', 'list', '--store', 'memory:', '--json'])).code).toBe('invalid_configuration')

  await place.write('ring', '{"keys":[{"id":"k1","secret":"hush-hush"}]}')
  const env = { FLOWFABRIC_KEYS_FILE: 'ring' }
  const refused = await place.run(['keys', 'rotate', '--json'], { env })

  expect(refused.code).toBe(2)
  expect(errorIn(refused)).toMatchObject({ code: 'invalid_keys' })
  expect(refused.stderr).not.toContain('hush')
  expect(await readFile(place.path('ring'), 'utf8')).toContain('hush-hush')
})

test('dev creates keys beside its store, reports them, and finds them again', async () => {
  const place = await workplace()
  const dev = place.start(['dev'])
  await dev.prints(/keys in \.\/flowfabric\.db\.keys, created now/)
  await dev.prints(/The engine runs/)
  const [secret = ''] = await secretsIn(place, 'flowfabric.db.keys')
  const ended = await dev.endBy('SIGINT')
  expect(ended.code).toBe(0)
  expect(ended.stdout + ended.stderr).not.toContain(secret)

  const again = place.start(['dev'])
  await again.prints(/keys in \.\/flowfabric\.db\.keys\./)
  await again.endBy('SIGINT')
  expect(await secretsIn(place, 'flowfabric.db.keys')).toEqual([secret])
})

test('dev on a store in memory keeps its key there, and refuses a file that is named and missing', async () => {
  const place = await workplace()
  const dev = place.start(['dev', '--store', 'memory:'])
  await dev.prints(/a key that is lost when this process ends/)
  await dev.endBy('SIGINT')

  const env = { FLOWFABRIC_KEYS_FILE: 'nothing' }
  const refused = await place.run(['dev', '--json'], { env })
  expect(refused.code).toBe(2)
  expect(errorIn(refused).code).toBe('signing_keys_missing')
  expect(place.has('flowfabric.db')).toBe(false)
})
