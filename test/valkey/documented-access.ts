/** The permissions that docs/valkey.md lists for operators, parsed from the page. */
import { readFile } from 'node:fs/promises'

const PAGE = new URL('../../docs/valkey.md', import.meta.url)

export interface DocumentedAccess {
  readonly username: string
  readonly password: string
  /** What comes behind the user and the password. */
  readonly rules: readonly string[]
}

/** One for each line of the page, in their order: the ordinary user, and the one that may not load functions. */
export async function documentedAccess(): Promise<DocumentedAccess[]> {
  const page = await readFile(PAGE, 'utf8')
  return [...page.matchAll(/^ACL SETUSER (\S+) on >(\S+) (.+)$/gm)].map(
    ([, username = '', password = '', rules = '']) => ({
      username,
      password,
      rules: rules.split(' '),
    }),
  )
}
