/** Generates docs/errors.md, which lists every error code, from the error catalogue. */
import { errorCatalogue } from '../../src/kernel/index.ts'
import type { ErrorEntry } from '../../src/kernel/index.ts'
import { GENERATED, code, list } from './markdown.ts'

const retryText: Record<ErrorEntry['retry'], string> = { never: '', later: ', retry later' }

export function errorsPage(): string {
  const entries: [string, ErrorEntry][] = Object.entries(errorCatalogue)
  const items = entries.map(
    ([name, { status, retry, text, advice }]) => `${code(name)} (${status}${retryText[retry]}): ${text} ${advice}`,
  )
  return `${GENERATED}

# Errors

Every refusal and every failure has one code. Codes are part of the public contract: they are never renamed or reused.
A code appears as \`error.code\` of an \`EngineError\`, as \`code\` in the
JSON output of the command line, and as \`code\` in a refusal of a store.

An error also has \`error.detail\`: the execution and its state, or the invalid field.

Each entry below contains the HTTP status of the code, what happened, and what to do. "Retry later" means that the same call can
succeed later without a change. Calls are idempotent, so a retry is safe.

${list(items)}
`
}
