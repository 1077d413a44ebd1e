/** Programs of PostgreSQL that the user of the server can run, wherever they are installed. */
import { execFile } from 'node:child_process'
import { cp } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { INITDB } from './postgres-programs.ts'
import { tryProgram } from './run-program.ts'
import type { RunResult } from './run-program.ts'
import { unprivilegedUser } from './system-user.ts'

export interface Installation {
  /** The folder of the programs. */
  readonly programs: string
  readonly majorVersion: number
}

const CHOWN_LIMIT_MS = 60_000

/** Such a package holds no links; the script that makes them may be left out when it is installed. */
const UNLINKED = 'A package links its libraries when it is installed; "npm rebuild" does it again.'

function tryInitdb(programs: string, folder: string): Promise<RunResult> {
  return tryProgram(path.join(programs, INITDB), ['--version'], { folder })
}

/** Programs find their libraries by where they are, so all of the installation goes with them. */
async function copyInstallation(programs: string, folder: string, uid: number, gid: number): Promise<string> {
  const copy = path.join(folder, 'installation')
  await cp(path.dirname(programs), copy, { recursive: true, verbatimSymlinks: true })
  await promisify(execFile)('chown', ['-R', `${uid}:${gid}`, copy], { timeout: CHOWN_LIMIT_MS })
  return path.join(copy, path.basename(programs))
}

function majorVersionIn(output: string): number {
  return Number(/ (\d+)/.exec(output)?.[1])
}

function reasonOf(result: RunResult): string {
  if (result.kind !== 'failed') return '.'
  return `:\n${result.output}${/librar/i.test(result.output) ? UNLINKED : ''}`
}

/**
 * The installation whose programs are in that folder. If they are root's alone and the server is to be another user's, it
 * is copied into `folder`, where that user may go. Throws if its programs do not run.
 */
export async function usableInstallation(programs: string, folder: string): Promise<Installation> {
  const result = await tryInitdb(programs, folder)
  if (result.kind === 'succeeded') return { programs, majorVersion: majorVersionIn(result.output) }
  const user = await unprivilegedUser()
  if (result.kind === 'not_allowed' && user !== undefined) {
    const copy = await copyInstallation(programs, folder, user.uid, user.gid)
    const again = await tryInitdb(copy, folder)
    if (again.kind === 'succeeded') return { programs: copy, majorVersion: majorVersionIn(again.output) }
  }
  throw new Error(`The PostgreSQL in ${programs} does not run${reasonOf(result)}`)
}
