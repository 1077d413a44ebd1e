/** Where the programs of this machine are. */
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import path from 'node:path'

/** Some systems leave these off the path of people who are not root, and keep servers there. */
const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/sbin']

export async function isProgram(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
}

/** A browser for tests: Chromium under the names that systems give it, or Chrome. */
export async function findChromium(): Promise<string | undefined> {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']) {
    const found = await findProgram(name)
    if (found !== undefined) return found
  }
  return undefined
}

/** The path of a program; undefined if the machine does not have it. */
export async function findProgram(program: string): Promise<string | undefined> {
  const onPath = (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '')
  for (const folder of [...onPath, ...SYSTEM_FOLDERS]) {
    const file = path.join(folder, program)
    if (await isProgram(file)) return file
  }
  return undefined
}
