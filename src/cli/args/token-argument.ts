/**
 * A token as a command is given it. What stands on the command line is seen by everybody on the machine, so that it is
 * better left in the environment or sent through standard input.
 */
import type { Readable } from 'node:stream'
import { TOKEN_MAX_LENGTH, invalidInput } from '../../client/index.ts'

export const TOKEN_VARIABLE = 'FLOWFABRIC_TOKEN'

/** `flag` is true if `--token` was given without a value: then the environment has it, or else standard input. */
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
  throw invalidInput(
    '--token',
    `--token was given without a token: set ${TOKEN_VARIABLE}, or send it to standard input.`,
  )
}

function stream(stdin: Readable): AsyncIterable<Buffer> {
  return stdin as AsyncIterable<Buffer>
}
