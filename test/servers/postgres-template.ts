/**
 * What every PostgreSQL server of a version begins with: programs that its user can run, and the files of a database in
 * which was never written to. Making these files takes a second or two, so a process makes them once and copies them for
 * each server. They go when the process ends.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { guardFolder } from './guard.ts'
import { usableInstallation } from './postgres-installation.ts'
import { INITDB, POSTGRES, postgresFolder } from './postgres-programs.ts'
import type { PostgresVersion } from './postgres-programs.ts'
import { runProgram } from './run-program.ts'
import { giveToServers } from './system-user.ts'

export const SUPERUSER = 'postgres'

const PASSWORD_BYTES = 24

/** The first version that can take the order of texts from ICU. */
const FIRST_WITH_ICU = 15

export interface PostgresTemplate {
  /** The server program. */
  readonly program: string
  /** The password of the superuser of every server made from this. */
  readonly password: string
  /** Copies the files of the database to where a server is to keep its own. */
  readonly copyTo: (dataFolder: string, occupy: (pid: number | undefined) => void) => Promise<void>
}

/** Texts are in the order of a language, as in most installations: who needs the order of bytes has to ask for it. */
function orderArguments(majorVersion: number): string[] {
  return majorVersion < FIRST_WITH_ICU ? [] : ['--locale-provider=icu', '--icu-locale=en-US']
}

async function makeTemplate(version: PostgresVersion, folder: string): Promise<PostgresTemplate> {
  await giveToServers(folder)
  const guard = guardFolder(folder)
  const { programs, majorVersion } = await usableInstallation(await postgresFolder(version), folder)
  const password = randomBytes(PASSWORD_BYTES).toString('base64url')
  const passwordFile = path.join(folder, 'password')
  await writeFile(passwordFile, password, { mode: 0o600 })
  await giveToServers(passwordFile)
  const dataFolder = path.join(folder, 'data')
  const access = [`--username=${SUPERUSER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256']
  const texts = ['--encoding=UTF8', '--locale=C', ...orderArguments(majorVersion)]
  await runProgram(path.join(programs, INITDB), [`--pgdata=${dataFolder}`, '--no-sync', ...access, ...texts], {
    folder,
    occupy: guard.watch,
  })
  return {
    program: path.join(programs, POSTGRES),
    password,
    copyTo: async (target, occupy) => {
      await runProgram('cp', ['-R', dataFolder, target], { folder, occupy })
    },
  }
}

async function makeTemplateOrNothing(version: PostgresVersion): Promise<PostgresTemplate> {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-postgres-'))
  try {
    return await makeTemplate(version, folder)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

const templates = new Map<PostgresVersion, Promise<PostgresTemplate>>()

/** The template of this process. */
export function postgresTemplate(version: PostgresVersion): Promise<PostgresTemplate> {
  const made = templates.get(version) ?? makeTemplateOrNothing(version)
  templates.set(version, made)
  return made
}
