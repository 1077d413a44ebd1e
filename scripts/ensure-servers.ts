/**
 * Makes sure that the servers which tests and benchmarks run against can be started. What is missing is installed, if this
 * is Debian and we are root, from the machine's own Debian mirror and without a service being started; elsewhere the
 * person is told how to get it.
 */
import { constants } from 'node:fs'
import { access, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { capture, run } from './run.ts'

interface ServerPackage {
  /** Also the name of the service that the package brings. */
  readonly program: string
  readonly packages: readonly string[]
  readonly oldestVersion: string
  readonly brewFormula: string
  /** A Debian release that has it in its backports only; later ones have it in the release itself. */
  readonly backportedTo?: string
}

const serverPackages: ServerPackage[] = [
  {
    program: 'valkey-server',
    packages: ['valkey-server', 'valkey-tools'],
    oldestVersion: '7.2',
    brewFormula: 'valkey',
    backportedTo: 'bookworm',
  },
  { program: 'redis-server', packages: ['redis-server'], oldestVersion: '7.0', brewFormula: 'redis' },
]

const TEMPORARY_SOURCE = '/etc/apt/sources.list.d/flowfabric-backports.sources'
const DEBIAN_KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg'
const APT_LIMIT_MS = 10 * 60_000

/** Debian asks this program before it starts a service; 101 says that it may not. */
const SERVICE_POLICY = '/usr/sbin/policy-rc.d'
const NO_SERVICES = '#!/bin/sh\nexit 101\n'

function howToInstall({ program, packages, oldestVersion, brewFormula, backportedTo }: ServerPackage): string {
  const names = packages.join(' ')
  const lines = [
    `${program} is not on the PATH, and these tests need it (version ${oldestVersion} or later).`,
    "Install it with your system's package manager, for example:",
    `  Debian         apt-get install ${names}`,
    `  macOS          brew install ${brewFormula}`,
    'Or run only what needs no server: npm run test:embedded',
  ]
  if (backportedTo !== undefined) {
    const command = `apt-get install -t ${backportedTo}-backports ${names}`
    lines.splice(2, 0, `  ${backportedTo.padEnd(14)} ${command}   (with backports among the sources)`)
  }
  return lines.join('\n')
}

async function exists(file: string, mode: number = constants.F_OK): Promise<boolean> {
  try {
    await access(file, mode)
    return true
  } catch {
    return false
  }
}

async function findProgram(program: string): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(path.delimiter)) {
    const file = path.join(folder, program)
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

/** Installs while no service may start. A machine that has a policy of its own keeps it. */
async function withoutServices(install: () => Promise<void>): Promise<void> {
  const isOurs = !(await exists(SERVICE_POLICY))
  if (isOurs) await writeFile(SERVICE_POLICY, NO_SERVICES, { mode: 0o755 })
  try {
    await install()
  } finally {
    if (isOurs) await rm(SERVICE_POLICY, { force: true })
  }
}

async function install(server: ServerPackage, release: string): Promise<void> {
  await withoutServices(async () => {
    await apt('update')
    if (release === server.backportedTo) await installFromBackports(release, server.packages)
    else await apt('install', '-y', ...server.packages)
  })
  // Nor is it to start with the machine. Where there are no services at all there is nothing to disable.
  await capture('update-rc.d', [server.program, 'disable'])
}

/** Answers the path of the program; throws with instructions if there is none and it cannot be installed. */
async function ensureServer(server: ServerPackage): Promise<string> {
  const found = await findProgram(server.program)
  if (found !== undefined) return found

  const release = await debianRelease()
  if (release === undefined || process.getuid?.() !== 0) throw new Error(howToInstall(server))
  try {
    await install(server, release)
  } catch (error) {
    throw new Error(`${server.program} could not be installed.\n${howToInstall(server)}`, { cause: error })
  }

  const installed = await findProgram(server.program)
  if (installed === undefined) throw new Error(howToInstall(server))
  return installed
}

/** Answers the paths of all server programs; throws with instructions if one is missing and cannot be installed. */
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
