import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { usableInstallation } from './postgres-installation.ts'
import { findInstalledPostgres, postgresFolder } from './postgres-programs.ts'
import { giveToServers } from './system-user.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-programs-'))
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true })
})

async function writePrograms(programs: string, ...names: string[]): Promise<void> {
  await mkdir(programs, { recursive: true })
  for (const name of names) await writeFile(path.join(programs, name), '', { mode: 0o755 })
}

describe('the PostgreSQL that a machine has', () => {
  test('is the newest of those that have both programs', async () => {
    for (const version of ['9', '15', '100'])
      await writePrograms(path.join(folder, version, 'bin'), 'initdb', 'postgres')
    await writePrograms(path.join(folder, '101/bin'), 'postgres')
    await writePrograms(path.join(folder, 'other/bin'), 'initdb', 'postgres')

    expect(await findInstalledPostgres(folder)).toBe(path.join(folder, '100/bin'))
  })

  test('is else the one on the path', async () => {
    await writePrograms(folder, 'initdb', 'postgres')
    vi.stubEnv('PATH', `/nowhere:${folder}`)

    expect(await findInstalledPostgres('/nowhere')).toBe(folder)
  })

  test('is not there if it is in none of these places', async () => {
    vi.stubEnv('PATH', '/nowhere')

    expect(await findInstalledPostgres('/nowhere')).toBeUndefined()
  })
})

describe('an installation', () => {
  /** A copy of the newest one, with or without the links of its libraries. */
  async function copyNewest(options: { readonly hasLinks: boolean }): Promise<string> {
    const copy = path.join(folder, 'copy')
    const original = path.dirname(await postgresFolder('newest'))
    await cp(path.join(original, 'bin'), path.join(copy, 'bin'), { recursive: true })
    if (options.hasLinks) await symlink(path.join(original, 'lib'), path.join(copy, 'lib'))
    return path.join(copy, 'bin')
  }

  test('whose programs are reached is used where it is', async () => {
    const programs = await postgresFolder('installed')
    await giveToServers(folder)

    const installation = await usableInstallation(programs, folder)

    expect(installation.programs).toBe(programs)
    expect(installation.majorVersion).toBeGreaterThanOrEqual(13)
  })

  test('that is root’s alone is used all the same', async () => {
    const programs = await copyNewest({ hasLinks: true })
    await chmod(path.dirname(programs), 0o700)
    const workFolder = path.join(folder, 'work')
    await mkdir(workFolder)
    await chmod(folder, 0o755)
    await giveToServers(workFolder)

    const installation = await usableInstallation(programs, workFolder)

    const isCopied = process.getuid?.() === 0
    expect(installation.programs).toBe(isCopied ? path.join(workFolder, 'installation/bin') : programs)
    expect(installation.majorVersion).toBeGreaterThanOrEqual(18)
  })

  test('whose libraries are not linked is a failure that names the fix', async () => {
    const programs = await copyNewest({ hasLinks: false })
    await giveToServers(folder)

    await expect(usableInstallation(programs, folder)).rejects.toThrow(/librar.*"npm rebuild" does it again/is)
  })
})
