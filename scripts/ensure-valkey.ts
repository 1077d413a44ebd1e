/**
 * Makes sure that `valkey-server` can be started. Where it is missing, and this is Debian and we are root, it is installed
 * from the machine's own Debian mirror; elsewhere the person is told how to get it.
 */
import { constants } from 'node:fs'
import { access, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { capture, run } from './run.ts'

const SERVER = 'valkey-server'
const PACKAGES = [SERVER, 'valkey-tools']
const TEMPORARY_SOURCE = '/etc/apt/sources.list.d/flowfabric-backports.sources'
const DEBIAN_KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg'
const APT_LIMIT_MS = 10 * 60_000

/** Debian 12 has Valkey in its backports only; later releases have it in the release itself. */
const RELEASE_WITHOUT_VALKEY = 'bookworm'

const howToInstall = `${SERVER} is not on the PATH, and these tests need it (version 7.2 or later).
Install it with your system's package manager, for example:
  Debian 12      apt-get install -t bookworm-backports ${PACKAGES.join(' ')}   (with backports among the sources)
  Debian 13      apt-get install ${PACKAGES.join(' ')}
  macOS          brew install valkey
Or run only what needs no server: npm run test:embedded`

async function exists(file: string, mode: number = constants.F_OK): Promise<boolean> {
  try {
    await access(file, mode)
    return true
  } catch {
    return false
  }
}

async function findServer(): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(path.delimiter)) {
    const file = path.join(folder, SERVER)
    if (folder !== '' && (await exists(file, constants.X_OK))) return file
  }
  return undefined
}

/** The code name of the Debian release; undefined if this is not Debian. */
async function debianRelease(): Promise<string | undefined> {
  if (!(await exists('/etc/os-release'))) return undefined
  const lines = (await readFile('/etc/os-release', 'utf8')).split('\n')
  if (!lines.includes('ID=debian')) return undefined
  return lines.find((line) => line.startsWith('VERSION_CODENAME='))?.split('=')[1]
}

async function apt(...args: string[]): Promise<void> {
  const options = ['-o', 'DPkg::Lock::Timeout=120', '-o', 'Acquire::Retries=3']
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  const { code } = await run('apt-get', [...options, ...args], { env, limitMs: APT_LIMIT_MS })
  if (code !== 0) throw new Error(`apt-get ${args.join(' ')} failed.`)
}

/** The address of the mirror from which this machine takes its release. Known to apt once it has read its sources. */
async function mirrorOf(release: string): Promise<string> {
  const { output } = await capture('apt-get', [
    'indextargets',
    '--format',
    '$(RELEASE) $(REPO_URI)',
    'Created-By: Packages',
  ])
  const entry = output.split('\n').find((line) => line.startsWith(`${release} `))
  if (entry === undefined) throw new Error(`No source of this machine offers ${release}.`)
  return entry.slice(release.length + 1)
}

async function installFromBackports(release: string): Promise<void> {
  const backports = `${release}-backports`
  const source = ['Types: deb', `URIs: ${await mirrorOf(release)}`, `Suites: ${backports}`, 'Components: main']
  if (await exists(DEBIAN_KEYS)) source.push(`Signed-By: ${DEBIAN_KEYS}`)
  await writeFile(TEMPORARY_SOURCE, `${source.join('\n')}\n`)
  try {
    await apt('update')
    await apt('install', '-y', '-t', backports, ...PACKAGES)
  } finally {
    await rm(TEMPORARY_SOURCE, { force: true })
  }
}

async function install(release: string): Promise<void> {
  await apt('update')
  if (release === RELEASE_WITHOUT_VALKEY) await installFromBackports(release)
  else await apt('install', '-y', ...PACKAGES)
}

/** Answers the path of the server; throws with instructions if there is none and it cannot be installed. */
export async function ensureValkey(): Promise<string> {
  const found = await findServer()
  if (found !== undefined) return found

  const release = await debianRelease()
  if (release === undefined || process.getuid?.() !== 0) throw new Error(howToInstall)
  try {
    await install(release)
  } catch (error) {
    throw new Error(`${SERVER} could not be installed.\n${howToInstall}`, { cause: error })
  }

  const installed = await findServer()
  if (installed === undefined) throw new Error(howToInstall)
  return installed
}

if (import.meta.main) {
  try {
    console.log(await ensureValkey())
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
