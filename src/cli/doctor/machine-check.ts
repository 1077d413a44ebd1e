/** Checks what surrounds the store: the settings of this machine, the permissions of files, and the level of the store. */
import { statSync } from 'node:fs'
import { programLevels } from '../../stores/level/store-level.ts'
import type { StoreLocation } from '../../stores/open/location.ts'
import type { Configuration } from '../config/configuration.ts'
import { settings } from '../config/settings.ts'
import type { SettingName } from '../config/settings.ts'
import { secret, secretFile } from '../config/kinds.ts'
import type { Kind } from '../config/kinds.ts'
import { printable } from '../text/printable.ts'
import type { Finding } from './diagnosis.ts'

/** The permission bits of users other than the owner. */
const OPEN_TO_OTHERS = 0o077
const WRITABLE_BY_OTHERS = 0o022

export interface MachineCheck {
  readonly configuration: Configuration
  readonly location: StoreLocation
  /** The file of signing keys, if the command has one. */
  readonly keysFile: string | undefined
  readonly level: number
}

export function machineFindings(check: MachineCheck): Finding[] {
  return [configurationFinding(check.configuration), fileFinding(check), levelFinding(check.level)]
}

function finding(check: Finding['check'], problems: readonly string[], fine: string): Finding {
  const isFine = problems.length === 0
  return { check, verdict: isFine ? 'ok' : 'warning', text: isFine ? fine : problems.join(' '), partitions: [] }
}

function configurationFinding(configuration: Configuration): Finding {
  const { file } = configuration
  const from = file === undefined ? 'flags and environment' : `flags, environment and ${printable(file.path)}`
  return finding('configuration', configuration.warnings(), `the settings come from ${from}`)
}

function fileFinding({ configuration, location, keysFile }: MachineCheck): Finding {
  const { file } = configuration
  const secretFiles = [
    keysFile,
    ...namesOf(secretFile).map((name) => configuration.value(name) as string | undefined),
    file !== undefined && [...file.values.keys()].some((name) => namesOf(secret).includes(name))
      ? file.path
      : undefined,
  ].filter((path) => path !== undefined)
  const problems = [...new Set(secretFiles)].flatMap((path) =>
    hasMode(path, OPEN_TO_OTHERS)
      ? [`Other users of this machine can reach the secrets in ${printable(path)}. Run: chmod 600 ${printable(path)}`]
      : [],
  )
  if (location.kind === 'sqlite' && hasMode(location.file, WRITABLE_BY_OTHERS)) {
    const path = printable(location.file)
    problems.push(`Other users of this machine can change the store ${path}. Run: chmod go-w ${path}`)
  }
  return finding('files', problems, 'only their owner can reach files with secrets')
}

function namesOf(kind: Kind<string>): SettingName[] {
  return (Object.keys(settings) as SettingName[]).filter((name) => settings[name].kind === kind)
}

/** False for a file that does not exist, and on Windows, which has no such permissions. */
function hasMode(path: string, mask: number): boolean {
  if (process.platform === 'win32') return false
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && (stats.mode & mask) !== 0
}

function levelFinding(level: number): Finding {
  const { max } = programLevels
  const problem =
    `The store has level ${level}, and this version can use level ${max}, which newer features need. ` +
    'Run flowfabric migrate once every process runs this version.'
  return finding(
    'level',
    level < max ? [problem] : [],
    `the store has level ${level}, the highest that this version knows`,
  )
}
