import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { programLevels } from '../../stores/level/store-level.ts'
import { parseLocation } from '../../stores/open/location.ts'
import { Configuration } from '../config/configuration.ts'
import type { Environment } from '../config/configuration.ts'
import { machineFindings } from './machine-check.ts'
import type { MachineCheck } from './machine-check.ts'

let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-machine-'))
})

afterAll(() => rm(folder, { recursive: true }))

async function fileWith(mode: number, text = ''): Promise<string> {
  const file = path.join(folder, `file-${mode.toString(8)}`)
  await writeFile(file, text)
  await chmod(file, mode)
  return file
}

function findingsOf(environment: Environment, more: Partial<MachineCheck> = {}) {
  const findings = machineFindings({
    configuration: Configuration.read(environment),
    location: parseLocation('memory:'),
    keysFile: undefined,
    level: programLevels.max,
    ...more,
  })
  return new Map(findings.map((finding) => [finding.check, finding]))
}

test('a machine in good order has three findings, all well', () => {
  const findings = findingsOf({})

  expect([...findings.keys()]).toEqual(['configuration', 'files', 'level'])
  expect([...findings.values()].map(({ verdict }) => verdict)).toEqual(['ok', 'ok', 'ok'])
})

test('a misspelt variable is a warning with the right name', () => {
  expect(findingsOf({ FLOWFABRIC_STOER: 'memory:' }).get('configuration')).toMatchObject({
    verdict: 'warning',
    text: expect.stringContaining('Did you mean FLOWFABRIC_STORE?') as unknown,
  })
})

test('files with secrets that other users can read are named with the command that closes them', async () => {
  const open = await fileWith(0o644)
  const closed = await fileWith(0o600)

  expect(findingsOf({ FLOWFABRIC_TOKENS_FILE: open }).get('files')).toMatchObject({
    verdict: 'warning',
    text: expect.stringContaining(`chmod 600 ${open}`) as unknown,
  })
  expect(findingsOf({}, { keysFile: open }).get('files')?.verdict).toBe('warning')
  for (const name of ['CODEC_KEYS', 'CODEC_BUCKET_SECRET_ACCESS_KEY', 'POSTGRES_KEY', 'REMOTE_TOKEN']) {
    expect([name, findingsOf({ [`FLOWFABRIC_${name}_FILE`]: open }).get('files')?.verdict]).toEqual([name, 'warning'])
  }
  expect(findingsOf({ FLOWFABRIC_VALKEY_PASSWORD_FILE: closed }, { keysFile: closed }).get('files')?.verdict).toBe('ok')
})

test('a file of settings must be closed to others only if it contains a secret', async () => {
  const secret = await fileWith(0o640, JSON.stringify({ valkey: { password: 'hush' } }))
  const plain = await fileWith(0o644, JSON.stringify({ server: { port: 1 } }))

  expect(findingsOf({ FLOWFABRIC_CONFIG_FILE: secret }).get('files')?.verdict).toBe('warning')
  expect(findingsOf({ FLOWFABRIC_CONFIG_FILE: plain }).get('files')?.verdict).toBe('ok')
})

test('a store that other users can change is a warning, one that they can read is not', async () => {
  const writable = await fileWith(0o666)
  const readable = await fileWith(0o644)
  const verdictOf = (file: string) =>
    findingsOf({}, { location: parseLocation(`sqlite:${file}`) }).get('files')?.verdict

  expect(verdictOf(writable)).toBe('warning')
  expect(verdictOf(readable)).toBe('ok')
})

test('a store below the level of this version is a warning', () => {
  expect(findingsOf({}, { level: programLevels.max - 1 }).get('level')).toMatchObject({
    verdict: 'warning',
    text: expect.stringContaining('flowfabric migrate') as unknown,
  })
})
