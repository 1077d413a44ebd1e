/** Encrypted and offloaded values on the command line: key files, rotation, and what a command shows with and without the key. */
import { readFile, stat } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { createFabric, encryption, fileBucket, offload, task } from '../../src/index.ts'
import { workplace } from './workplace.ts'
import type { Workplace } from './workplace.ts'

const charge = task<{ readonly card: string }, string>('charge')
const CARD = '4111-1111'

async function charged(place: Workplace, id: string, card = CARD): Promise<void> {
  const codec = [
    encryption({ keys: place.path('codec-keys.json') }),
    offload({ to: fileBucket(place.path('values')), above: 100 }),
  ]
  await using fabric = await createFabric(`sqlite:${place.path('flowfabric.db')}`, { log: 'silent', codec })
  await using _worker = await fabric.work([
    charge.handle(({ card }, ctx) => {
      ctx.log.info({ card }, 'charging')
      return `${card} is charged`
    }),
  ])
  expect(await (await fabric.submit(charge, { card }, { id })).result()).toBe(`${card} is charged`)
}

test('commands show sealed values, and plain ones with the key; a rotation needs no restart', async () => {
  const place = await workplace()
  const file = place.path('codec-keys.json')
  const first = await place.json<{ id: string }>('codec-keys', 'create', file)
  expect((await stat(file)).mode & 0o077).toBe(0)
  expect((await place.run(['codec-keys', 'create', file])).code).not.toBe(0)
  await charged(place, 'before')
  const second = await place.json<{ id: string }>('codec-keys', 'rotate', file)
  await charged(place, 'after')

  expect(await place.json('codec-keys', 'list', file)).toMatchObject({
    keys: [
      { id: first.id, isCurrent: false },
      { id: second.id, isCurrent: true },
    ],
  })
  for (const id of ['before', 'after']) {
    const shown = await place.run(['show', id, '--payload', '--json'])
    expect(shown.stdout).toContain('"sealed":"value_sealed"')
    expect(shown.stdout).not.toContain(CARD)
    expect((await place.run(['logs', id])).stdout).toContain('(value_sealed)')
    const env = { FLOWFABRIC_CODEC_KEYS_FILE: file, FLOWFABRIC_CODEC_FOLDER: place.path('values') }
    expect((await place.run(['show', id, '--payload', '--json'], { env })).stdout).toContain(`${CARD} is charged`)
    expect((await place.run(['logs', id], { env })).stdout).toContain(CARD)
  }
  await place.run(['codec-keys', 'drop', file, first.id])
  await place.write(
    'flowfabric.config.json',
    JSON.stringify({ codec: { keysFile: file, folder: place.path('values') } }),
  )
  expect((await place.run(['show', 'before', '--payload', '--json'])).stdout).toContain('codec_key_missing')
  expect((await readFile(place.path('flowfabric.db'))).includes(CARD)).toBe(false)
})

test('codec-sweep removes the objects of the bucket of the settings that no execution has any more', async () => {
  const place = await workplace()
  await place.json('codec-keys', 'create', place.path('codec-keys.json'))
  await charged(place, 'kept', CARD.repeat(20))
  const bucket = fileBucket(place.path('values'))
  const old = `0-${'0'.repeat(32)}/${'0'.repeat(64)}-${'0'.repeat(32)}`
  await bucket.put(old, Buffer.from('orphan'))
  let examined = 0
  for await (const _object of bucket.list()) examined += 1
  const env = {
    FLOWFABRIC_CODEC_KEYS_FILE: place.path('codec-keys.json'),
    FLOWFABRIC_CODEC_FOLDER: place.path('values'),
  }
  const sweep = (...flags: string[]) => place.run(['codec-sweep', ...flags], { env })

  expect((await place.run(['codec-sweep'])).stderr).toContain('No bucket is set')
  const young = await sweep('--json')
  expect(examined).toBeGreaterThan(1)
  expect(JSON.parse(young.stdout)).toEqual({ dryRun: false, examined, orphaned: 0, removed: 0 })
  const counted = `${examined} objects were examined; 1`
  expect((await sweep('--dry-run', '--min-age', '0s')).stdout).toBe(`${counted} would be removed.\n`)
  expect(place.has(`values/${old}`)).toBe(true)
  expect((await sweep('--min-age', '0s')).stdout).toBe(`${counted} were removed.\n`)
  expect(place.has(`values/${old}`)).toBe(false)
  expect((await place.run(['show', 'kept', '--payload'], { env })).stdout).toContain(CARD)
})
