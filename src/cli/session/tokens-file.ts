/** Locates the file of tokens for the `tokens` commands. */
import { invalidConfiguration } from '../../options/invalid-input.ts'
import type { Configuration } from '../config/configuration.ts'
import { settings } from '../config/settings.ts'

export const TOKENS_FILE_VARIABLE = settings['server.tokensFile'].variable

export function requireTokensFile(configuration: Configuration): string {
  const file = configuration.value('server.tokensFile')
  if (file !== undefined) return file
  throw invalidConfiguration('--file', `Name the file of tokens with --file or ${TOKENS_FILE_VARIABLE}.`)
}
