import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { errorIn, workplace } from './workplace.ts'

const LOOKING: readonly (readonly string[])[] = [
  ['list'],
  ['show', 'a'],
  ['tail'],
  ['cancel', 'a'],
  ['replay', 'a'],
  ['why', 'a'],
  ['lanes'],
  ['limits'],
  ['doctor'],
  ['migrate'],
]

describe('a store that does not exist', () => {
  test.each(LOOKING)('is not created by %s, which exits with 4 and advice', async (...args) => {
    const place = await workplace()

    const refused = await place.run([...args, '--json'])

    expect(refused).toMatchObject({ code: 4, stdout: '' })
    expect(errorIn(refused)).toMatchObject({
      code: 'store_not_found',
      message: expect.stringContaining('flowfabric.db') as unknown,
      advice: expect.stringContaining('flowfabric dev') as unknown,
    })
    expect(place.has('flowfabric.db')).toBe(false)
  })

  test('is created by submit', async () => {
    const place = await workplace()
    expect((await place.run(['submit', 'greet'])).code).toBe(0)
    expect(place.has('flowfabric.db')).toBe(true)
  })
})

describe('where the store is', () => {
  test('--store wins over FLOWFABRIC_STORE, which wins over the default', async () => {
    const place = await workplace()
    const env = { FLOWFABRIC_STORE: 'sqlite:./from-environment.db' }

    await place.run(['submit', 'greet'], { env })
    await place.run(['submit', 'greet', '--store', 'sqlite:./from-flag.db'], { env })
    await place.run(['--store', 'sqlite:./before-the-command.db', 'submit', 'greet'], { env })

    expect(place.has('from-environment.db')).toBe(true)
    expect(place.has('from-flag.db')).toBe(true)
    expect(place.has('before-the-command.db')).toBe(true)
    expect(place.has('flowfabric.db')).toBe(false)
  })

  test.each([
    ['an unknown kind of store', 'mongodb://user:secret@host/db'],
    ['no kind at all', 'flowfabric.db'],
    ['a store that would end with the command', 'memory:'],
  ])('%s is refused with 2 and what would do, and no secret is repeated', async (_, location) => {
    const place = await workplace()

    const refused = await place.run(['submit', 'greet', '--store', location, '--json'])

    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(errorIn(refused).code).toBe('invalid_configuration')
    expect(errorIn(refused).message).toContain('sqlite:./')
    expect(refused.stderr).not.toContain('secret')
  })

  test('a file that is no store is refused and left as it is', async () => {
    const place = await workplace()
    await place.write('notes.txt', 'buy milk, and then a good deal more than sixteen bytes of it')

    const refused = await place.run(['list', '--store', 'sqlite:./notes.txt', '--json'])

    expect(refused.code).toBe(2)
    expect(errorIn(refused).message).toContain('notes.txt')
  })

  test('a store of a newer version is refused with 4', async () => {
    const place = await workplace()
    await place.run(['submit', 'greet'])
    const database = new DatabaseSync(place.path('flowfabric.db'))
    database.exec(`update meta set value = '999' where name = 'schema_version'`)
    database.close()

    const refused = await place.run(['list', '--json'])

    expect(refused.code).toBe(4)
    expect(errorIn(refused)).toMatchObject({
      code: 'newer_schema',
      advice: expect.stringContaining('Upgrade') as unknown,
    })
  })
})
