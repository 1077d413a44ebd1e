/** Locates the file of tokens for the HTTP API. */
import { invalidConfiguration } from '../../options/invalid-input.ts'
import type { Environment } from './store-access.ts'

export const TOKENS_FILE_VARIABLE = 'FLOWFABRIC_TOKENS_FILE'

/** An empty variable counts as unset. */
export function tokensFileOf(environment: Environment, flag: string | undefined): string | undefined {
  const file = flag ?? environment[TOKENS_FILE_VARIABLE]
  return file === '' ? undefined : file
}

export function requireTokensFile(environment: Environment, flag: string | undefined): string {
  const file = tokensFileOf(environment, flag)
  if (file !== undefined) return file
  throw invalidConfiguration('--file', `Name the file of tokens with --file or ${TOKENS_FILE_VARIABLE}.`)
}
