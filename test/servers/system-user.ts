/** Whose processes the servers are that refuse to be root's: ours, or another user's if we are root. */
import { execFile } from 'node:child_process'
import { chown } from 'node:fs/promises'
import { promisify } from 'node:util'

export interface SystemUser {
  readonly uid: number
  readonly gid: number
}

/** The first of these that the machine knows. The second is on every machine. */
const UNPRIVILEGED = ['postgres', 'nobody']
const LOOKUP_LIMIT_MS = 30_000

async function lookUp(name: string): Promise<SystemUser | undefined> {
  const ask = async (what: '-u' | '-g'): Promise<number> => {
    const { stdout } = await promisify(execFile)('id', [what, name], { timeout: LOOKUP_LIMIT_MS })
    return Number(stdout)
  }
  return Promise.all([ask('-u'), ask('-g')]).then(
    ([uid, gid]) => ({ uid, gid }),
    () => undefined,
  )
}

async function choose(): Promise<SystemUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  for (const name of UNPRIVILEGED) {
    const user = await lookUp(name)
    if (user !== undefined) return user
  }
  throw new Error(`This server does not run as root, and there is no other user: ${UNPRIVILEGED.join(', ')}.`)
}

let chosen: Promise<SystemUser | undefined> | undefined

/** The user that such a server has to be started as; undefined if we are one that it accepts. */
export function unprivilegedUser(): Promise<SystemUser | undefined> {
  chosen ??= choose()
  return chosen
}

/** Gives a file or a folder to the user that such a server is started as. */
export async function giveToServers(file: string): Promise<void> {
  const user = await unprivilegedUser()
  if (user !== undefined) await chown(file, user.uid, user.gid)
}
