/**
 * Finds the programs that tests and benchmarks start: servers and a browser. On Debian, as root, it installs missing ones from the mirror of
 * the machine, without starting services. Elsewhere it prints instructions.
 */
import { access, mkdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findChromium, findProgram } from '../test/servers/find-program.ts'
import { findInstalledPostgres } from '../test/servers/postgres-programs.ts'
import { capture, run } from './run.ts'

interface ServerPackage {
  readonly program: string
  /** Returns the path of the program; undefined if it is not installed. */
  readonly find: () => Promise<string | undefined>
  /** The service that the package installs, if it is a server. */
  readonly service?: string
  readonly packages: readonly string[]
  readonly oldestVersion: string
  readonly brewFormula: string
  /** A Debian release that has the package in its backports only. Later releases contain it. */
  readonly backportedTo?: string
  /** Policies that apply during the installation, in addition to `noServices`. */
  readonly policy?: Policy
}

/** A file that restricts what Debian does during an installation. */
interface Policy {
  readonly file: string
  readonly text: string
  readonly mode: number
}

/** Debian runs this program before it starts a service; the exit code 101 forbids it. */
const noServices: Policy = { file: '/usr/sbin/policy-rc.d', text: '#!/bin/sh\nexit 101\n', mode: 0o755 }

/** Prevents the creation of a database cluster when PostgreSQL is installed. */
const noDatabase: Policy = {
  file: '/etc/postgresql-common/createcluster.d/flowfabric.conf',
  text: 'create_main_cluster = false\n',
  mode: 0o644,
}

const serverPackages: ServerPackage[] = [
  {
    program: 'valkey-server',
    find: () => findProgram('valkey-server'),
    service: 'valkey-server',
    packages: ['valkey-server', 'valkey-tools'],
    oldestVersion: '7.2',
    brewFormula: 'valkey',
    backportedTo: 'bookworm',
  },
  {
    program: 'redis-server',
    find: () => findProgram('redis-server'),
    service: 'redis-server',
    packages: ['redis-server'],
    oldestVersion: '7.0',
    brewFormula: 'redis',
  },
  {
    program: 'postgres',
    find: findInstalledPostgres,
    service: 'postgresql',
    packages: ['postgresql'],
    oldestVersion: '13',
    brewFormula: 'postgresql',
    policy: noDatabase,
  },
  {
    program: 'pgbouncer',
    find: () => findProgram('pgbouncer'),
    service: 'pgbouncer',
    packages: ['pgbouncer'],
    oldestVersion: '1.18',
    brewFormula: 'pgbouncer',
  },
  {
    program: 'chromium',
    find: findChromium,
    packages: ['chromium'],
    oldestVersion: '120',
    brewFormula: '--cask chromium',
  },
]

const TEMPORARY_SOURCE = '/etc/apt/sources.list.d/flowfabric-backports.sources'
const DEBIAN_KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg'
const APT_LIMIT_MS = 10 * 60_000

function howToInstall({ program, packages, oldestVersion, brewFormula, backportedTo }: ServerPackage): string {
  const names = packages.join(' ')
  const lines = [
    `This machine has no ${program}, and these tests need it (version ${oldestVersion} or later).`,
    "Install it with your system's package manager and have it on the PATH, for example:",
    `  Debian         apt-get install ${names}`,
    `  macOS          brew install ${brewFormula}`,
    'Or run the tests that need no server: npm run test:embedded',
  ]
  if (backportedTo !== undefined) {
    const command = `apt-get install -t ${backportedTo}-backports ${names}`
    lines.splice(2, 0, `  ${backportedTo.padEnd(14)} ${command}   (with backports among the sources)`)
  }
  return lines.join('\n')
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}

/** Returns the code name of the Debian release; undefined if this is not Debian. */
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

/** Returns the address of the Debian mirror of this machine. Requires that apt has read its sources. */
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

async function installFromBackports(release: string, packages: readonly string[]): Promise<void> {
  const backports = `${release}-backports`
  const source = ['Types: deb', `URIs: ${await mirrorOf(release)}`, `Suites: ${backports}`, 'Components: main']
  if (await exists(DEBIAN_KEYS)) source.push(`Signed-By: ${DEBIAN_KEYS}`)
  await writeFile(TEMPORARY_SOURCE, `${source.join('\n')}\n`)
  try {
    await apt('update')
    await apt('install', '-y', '-t', backports, ...packages)
  } finally {
    await rm(TEMPORARY_SOURCE, { force: true })
  }
}

/** Runs an installation with a policy in place. An existing policy of the machine is kept. */
async function withPolicy({ file, text, mode }: Policy, installing: () => Promise<void>): Promise<void> {
  if (await exists(file)) return installing()
  const folder = path.dirname(file)
  const firstMade = await mkdir(folder, { recursive: true })
  await writeFile(file, text, { mode })
  try {
    await installing()
  } finally {
    await rm(file)
    if (firstMade !== undefined) await removeEmpty(folder, firstMade)
  }
}

/** Removes a folder and its parents up to `last`, if they are empty: an installed package may have added files. */
async function removeEmpty(folder: string, last: string): Promise<void> {
  const isGone = await rmdir(folder).then(
    () => true,
    () => false,
  )
  if (isGone && folder !== last) await removeEmpty(path.dirname(folder), last)
}

async function install({ packages, service, backportedTo, policy }: ServerPackage, release: string): Promise<void> {
  const installing = async (): Promise<void> => {
    await apt('update')
    if (release === backportedTo) await installFromBackports(release, packages)
    else await apt('install', '-y', ...packages)
  }
  await withPolicy(noServices, () => (policy === undefined ? installing() : withPolicy(policy, installing)))
  // The service must not start at boot either. The command fails on a machine without services, which is fine.
  if (service !== undefined) await capture('update-rc.d', [service, 'disable'])
}

/** Returns the path of the program. Throws with instructions if it is missing and cannot be installed. */
async function ensureServer(server: ServerPackage): Promise<string> {
  const found = await server.find()
  if (found !== undefined) return found

  const release = await debianRelease()
  if (release === undefined || process.getuid?.() !== 0) throw new Error(howToInstall(server))
  try {
    await install(server, release)
  } catch (error) {
    throw new Error(`${server.program} could not be installed.\n${howToInstall(server)}`, { cause: error })
  }

  const installed = await server.find()
  if (installed === undefined) throw new Error(howToInstall(server))
  return installed
}

/** Returns the paths of all server programs. Throws with instructions if one is missing and cannot be installed. */
export async function ensureServers(): Promise<string[]> {
  const programs: string[] = []
  for (const server of serverPackages) programs.push(await ensureServer(server))
  return programs
}

if (import.meta.main) {
  try {
    console.log((await ensureServers()).join('\n'))
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
