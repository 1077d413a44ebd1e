/**
 * Checks a change in a minute or two: format, lint and types with their caches, and the affected tests of the
 * unit, table and conformance suites, on stores that need no server.
 *
 *   node scripts/quick.ts                 uncommitted changes
 *   node scripts/quick.ts --since main    changes of this branch
 */
import { parseArgs } from 'node:util'
import { runLanes } from './lanes.ts'
import type { Job } from './lanes.ts'
import { capture, seconds } from './run.ts'

const LINT_CACHE = 'node_modules/.cache/eslint/'
const SUITES = ['unit', 'table', 'conformance']

const { values } = parseArgs({ options: { since: { type: 'string', default: 'HEAD' } } })
const projects = SUITES.flatMap((name) => ['--project', name])
const failed: string[] = []

/** Prints the output of a program only if it fails. */
function step(name: string, command: string, args: readonly string[], env: Record<string, string> = {}): Job {
  return async () => {
    const startedAt = performance.now()
    const { code, output } = await capture(command, args, { env })
    console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds(startedAt)})`)
    if (code === 0) return
    failed.push(name)
    console.log(output)
  }
}

const startedAt = performance.now()
await runLanes([
  [
    step('types', 'npm', ['run', '--silent', 'types']),
    step('lint', 'npm', ['run', '--silent', 'lint', '--', '--cache', '--cache-location', LINT_CACHE]),
    step('format', 'npm', ['run', '--silent', 'format']),
  ],
  [
    step('tests', 'npx', ['--no', 'vitest', 'run', '--changed', values.since, ...projects], {
      FLOWFABRIC_TEST_EMBEDDED: '1',
    }),
  ],
])
console.log(`${failed.length === 0 ? 'ok' : `Failed: ${failed.join(', ')}`}, after ${seconds(startedAt)}`)
if (failed.length > 0) process.exitCode = 1
