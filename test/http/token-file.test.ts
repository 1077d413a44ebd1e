/** The file of bearer tokens: what it accepts, who may see it, and what becomes of changes that come at once. */
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { inspect, promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { TokenFile, changeTokenFile, hashOf, mintToken } from '../../src/server/auth/token-file.ts'
import type { StoredToken } from '../../src/server/auth/token-file.ts'
import { silentLog, systemRuntime, virtualRuntime } from '../../src/runtime/index.ts'

describe('a file of tokens', () => {
  const systemClock = systemRuntime()

  async function newFile(tokens: readonly StoredToken[]): Promise<string> {
    const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-tokens-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = path.join(folder, 'tokens.json')
    await changeTokenFile(file, systemClock, () => tokens)
    return file
  }

  function stored(token: string, name = 'deploy'): StoredToken {
    return { name, role: 'operator', namespace: 'acme', sha256: hashOf(token), createdAt: 0 }
  }

  test('accepts its tokens, and follows its changes', async () => {
    const token = mintToken()
    const file = await newFile([stored(token)])
    const runtime = virtualRuntime()
    const tokens = new TokenFile(file, runtime, silentLog)
    expect(tokens.principalOf(token)).toEqual({ name: 'deploy', role: 'operator', namespace: 'acme' })
    expect(tokens.principalOf(mintToken())).toBeUndefined()

    await changeTokenFile(file, systemClock, () => [])
    await runtime.advance(1_000)
    expect(tokens.principalOf(token)).toBeUndefined()
  })

  test('that cannot be read accepts nothing until it can', async () => {
    const token = mintToken()
    const file = await newFile([stored(token)])
    const runtime = virtualRuntime()
    const tokens = new TokenFile(file, runtime, silentLog)
    await writeFile(file, '{ "version": 1, "tokens": [ {} ] }')
    await runtime.advance(1_000)
    expect(tokens.principalOf(token)).toBeUndefined()
    await rm(file)
    await changeTokenFile(file, systemClock, () => [stored(token)])
    expect(tokens.principalOf(token)).toMatchObject({ name: 'deploy' })
  })

  test('loses no change of several at once, so no revoked token is accepted again', async () => {
    const [revoked, ...added] = Array.from({ length: 12 }, () => mintToken())
    const file = await newFile([stored(revoked!, 'old')])
    await Promise.all([
      ...added.map((token, i) => changeTokenFile(file, systemClock, (now = []) => [...now, stored(token, `new${i}`)])),
      changeTokenFile(file, systemClock, (now = []) => now.filter(({ name }) => name !== 'old')),
    ])

    const tokens = new TokenFile(file, virtualRuntime(), silentLog)
    expect(tokens.principalOf(revoked!)).toBeUndefined()
    expect(added.map((token) => tokens.principalOf(token)?.name)).toEqual(added.map((_, i) => `new${i}`))
  })

  test('behind a link is changed where it is, and stays with its owner alone', async () => {
    const token = mintToken()
    const file = await newFile([])
    const link = `${file}.link`
    await symlink(file, link)
    await chmod(file, 0o644)
    await changeTokenFile(link, systemClock, () => [stored(token)])

    expect(await readlink(link)).toBe(file)
    expect(new TokenFile(file, virtualRuntime(), silentLog).principalOf(token)).toBeDefined()
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  test('that is replaced by a pipe is refused without opening it', async () => {
    const token = mintToken()
    const file = await newFile([stored(token)])
    const runtime = virtualRuntime()
    const tokens = new TokenFile(file, runtime, silentLog)
    await rm(file)
    await promisify(execFile)('mkfifo', [file])
    await runtime.advance(1_000)

    expect(tokens.principalOf(token)).toBeUndefined()
    expect(() => new TokenFile(file, runtime, silentLog)).toThrow('is not a regular file')
  })

  test('that others can change is warned of, also while the server runs', async () => {
    const file = await newFile([])
    const runtime = virtualRuntime()
    const warnings: unknown[] = []
    const tokens = new TokenFile(file, runtime, { ...silentLog, warn: (_, message) => void warnings.push(message) })
    expect(warnings).toEqual([])
    await chmod(file, 0o666)
    for (let i = 0; i < 2; i++) {
      await runtime.advance(1_000)
      tokens.principalOf('any')
    }
    expect(warnings).toEqual([expect.stringContaining('chmod 600')])
  })

  test.each([
    '',
    '[]',
    'hunter2',
    '"hunter2"',
    '{"hunter2":1}',
    '{"version":1}',
    '{"version":2,"tokens":[]}',
    '{"version":1,"tokens":[{"name":"a"}]}',
    '{"version":1,"tokens":["hunter2"]}',
    '{"version":1,"tokens":[{"hunter2":"a"}]}',
    JSON.stringify({ version: 1, tokens: Array.from({ length: 1_001 }, (_, i) => stored(`${i}`, `n${i}`)) }),
  ])('with the content %.60j is refused at the start, and the error shows nothing of it', async (content) => {
    const file = await newFile([])
    await writeFile(file, content)
    let refusal: unknown
    try {
      new TokenFile(file, virtualRuntime(), silentLog)
    } catch (error) {
      refusal = error
    }

    expect(refusal).toMatchObject({ code: 'invalid_configuration', detail: { field: 'tokens' } })
    expect(inspect(refusal, { depth: 9 })).not.toContain('hunter2')
  })
})
