/** docs/errors.md: every code that a caller can meet. */
import { errorCatalogue } from '../../src/kernel/index.ts'
import type { ErrorEntry } from '../../src/kernel/index.ts'
import { GENERATED, code, table } from './markdown.ts'

const tryAgain: Record<ErrorEntry['retry'], string> = { never: 'no', later: 'yes, later' }

export function errorsPage(): string {
  const entries: [string, ErrorEntry][] = Object.entries(errorCatalogue)
  const rows = entries.map(([name, entry]) => [
    code(name),
    String(entry.status),
    tryAgain[entry.retry],
    entry.text,
    entry.advice,
  ])
  return `${GENERATED}

# Errors

Everything that FlowFabric refuses, and everything that goes wrong, has one code. The code is part of the public contract:
it is never renamed and never used for anything else. You meet it as \`error.code\` of an \`EngineError\`, as \`code\` in the
JSON output of the command line, and as \`code\` in a refusal that a store answers.

An error also carries \`error.detail\`: the execution it is about and how that execution stands, or the field that is wrong.

- **Status** is the HTTP status that stands for the code.
- **Try again** says whether the very same call can succeed later without anybody changing anything. Calls are safe to
  repeat: what has been done once is not done twice.

${table(['Code', 'Status', 'Try again', 'What happened', 'What to do'], rows)}
`
}
