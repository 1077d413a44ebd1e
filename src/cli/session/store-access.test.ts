import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EngineError } from '../../kernel/engine-error.ts'
import { parseLocation } from '../../stores/open/location.ts'
import { accessFrom } from './store-access.ts'
import { Configuration } from '../config/configuration.ts'
import type { Environment } from '../config/configuration.ts'

let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-'))
})

afterAll(() => rm(folder, { recursive: true }))

async function fileWith(text: string): Promise<string> {
  const file = path.join(folder, 'password')
  await writeFile(file, text)
  return file
}

describe.each(['valkey', 'postgres'] as const)('user and password of a store on %s', (kind) => {
  const here = parseLocation(`${kind}://localhost`)
  const prefix = `FLOWFABRIC_${kind.toUpperCase()}_`
  const other = kind === 'valkey' ? 'FLOWFABRIC_POSTGRES_' : 'FLOWFABRIC_VALKEY_'

  function refusalOf(environment: Environment): EngineError {
    try {
      accessFrom(new Configuration(environment), here)
    } catch (error) {
      return error as EngineError
    }
    return expect.fail('it was accepted')
  }

  test.each<[Environment, object]>([
    [{}, {}],
    [{ [`${prefix}PASSWORD`]: 'hush' }, { password: 'hush' }],
    [
      { [`${prefix}USERNAME`]: 'app', [`${prefix}PASSWORD`]: 'hush' },
      { username: 'app', password: 'hush' },
    ],
    [{ [`${prefix}USERNAME`]: '', [`${prefix}PASSWORD`]: '', [`${prefix}PASSWORD_FILE`]: '' }, {}],
    [{ [`${other}USERNAME`]: 'app', [`${other}PASSWORD`]: 'hush' }, {}],
  ])('come from the environment %j', async (environment, expected) => {
    expect(accessFrom(new Configuration(environment), here)).toEqual({ [kind]: expected })
  })

  test.each(['hush', 'hush\n', 'hush\r\n'])('come from a file that holds %j, without its line break', async (text) => {
    const environment = { [`${prefix}PASSWORD_FILE`]: await fileWith(text) }
    expect(accessFrom(new Configuration(environment), here)).toEqual({ [kind]: { password: 'hush' } })
  })

  test('keep every other blank of a file', async () => {
    const environment = { [`${prefix}PASSWORD_FILE`]: await fileWith(' hu\nsh \n\n') }
    expect(accessFrom(new Configuration(environment), here)).toEqual({ [kind]: { password: ' hu\nsh \n' } })
  })

  test('come from the location if it carries a password', async () => {
    const environment = { [`${prefix}USERNAME`]: 'app', [`${prefix}PASSWORD`]: 'hush' }

    for (const location of [`${kind}://:other@localhost`, `${kind}://user:other@localhost`]) {
      expect(accessFrom(new Configuration(environment), parseLocation(location))).toEqual({ [kind]: {} })
    }
    expect(accessFrom(new Configuration(environment), parseLocation(`${kind}://user@localhost`))).toEqual({
      [kind]: { username: 'user', password: 'hush' },
    })
  })

  test('are refused if there are two passwords, or the file cannot be read or is empty', async () => {
    const twice = refusalOf({ [`${prefix}PASSWORD`]: 'hush', [`${prefix}PASSWORD_FILE`]: 'a' })
    const missing = refusalOf({ [`${prefix}PASSWORD_FILE`]: path.join(folder, 'nowhere') })
    const empty = refusalOf({ [`${prefix}PASSWORD_FILE`]: await fileWith('\n') })

    expect([twice.code, missing.code, empty.code]).toEqual(Array(3).fill('invalid_configuration'))
    expect(twice.message).toContain('leave one out')
    expect(twice.message).not.toContain('hush')
    expect(missing.message).toContain(`nowhere, which ${prefix}PASSWORD_FILE names, cannot be read: ENOENT`)
    expect(empty.message).toContain('is empty')
  })
})

test('a store that is not on a server has neither user nor password', async () => {
  const environment = { FLOWFABRIC_VALKEY_PASSWORD: 'hush', FLOWFABRIC_POSTGRES_PASSWORD: 'hush' }

  for (const location of ['sqlite:./a.db', 'memory:']) {
    expect(accessFrom(new Configuration(environment), parseLocation(location))).toEqual({})
  }
})
