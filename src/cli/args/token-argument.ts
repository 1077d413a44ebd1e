/**
 * Reads a token argument. Other users of the machine can read a command line, so a token is better passed in the
 * environment or through standard input.
 */
import type { Readable } from 'node:stream'
import { TOKEN_MAX_LENGTH, invalidInput } from '../../client/index.ts'

export const TOKEN_VARIABLE = 'FLOWFABRIC_TOKEN'

/** `flag` is true for `--token` without a value: the token is then read from the environment, else from standard input. */
export async function readToken(flag: string | true, environment: NodeJS.ProcessEnv, stdin: Readable): Promise<string> {
  if (typeof flag === 'string' && flag !== '-') return flag
  const kept = environment[TOKEN_VARIABLE]
  if (flag === true && kept !== undefined && kept !== '') return kept
  return await readLine(stdin)
}

async function readLine(stdin: Readable): Promise<string> {
  let text = ''
  for await (const chunk of stream(stdin)) {
    text += chunk.toString('utf8')
    if (text.length > TOKEN_MAX_LENGTH + 2) break
  }
  const token = text.trim()
  if (token !== '') return token
  throw invalidInput('--token', `--token has no token: set ${TOKEN_VARIABLE}, or send the token to standard input.`)
}

function stream(stdin: Readable): AsyncIterable<Buffer> {
  return stdin as AsyncIterable<Buffer>
}
