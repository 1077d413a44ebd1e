/** Runs one test suite in a separate process and counts its tests. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { z } from 'zod'
import { capture, root, run } from './run.ts'
import { REPORT_VARIABLE } from './suite-reporter.ts'
import type { SuiteReport, TestResult } from './suite-reporter.ts'

const REPORTER = path.join(import.meta.dirname, 'suite-reporter.ts')

/** Ends a suite that hangs. The limit is generous, because suites run concurrently. */
const SUITE_LIMIT_MS = 60 * 60_000

export interface SuiteOptions {
  readonly env: Record<string, string>
  /** The destination of the output. */
  readonly output: 'terminal' | 'result'
}

export interface SuiteResult {
  readonly passed: number
  readonly failed: number
  readonly output: string
  readonly tests: readonly TestResult[]
  /** Failures outside of tests. Each counts as a failed test. */
  readonly problems: SuiteReport['problems']
}

const reportSchema = z.object({
  tests: z.array(
    z.object({
      name: z.string(),
      state: z.enum(['passed', 'failed', 'skipped', 'pending']),
      durationMs: z.number(),
      failure: z.string(),
    }),
  ),
  problems: z.array(z.object({ name: z.string(), failure: z.string() })),
}) satisfies z.ZodType<SuiteReport>

const emptyReport: SuiteReport = { tests: [], problems: [] }

/** Returns an empty report for a suite that ended before it wrote one. */
async function readReport(file: string): Promise<SuiteReport> {
  try {
    return reportSchema.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch {
    return emptyReport
  }
}

function complaintOf(code: number | undefined, passed: number): string {
  if (code === undefined) return 'was ended by a signal or by its time limit'
  return passed === 0 ? 'ran no tests' : 'failed outside of its tests'
}

/** Runs a suite. A suite that crashes or runs no tests counts as a failure. */
export async function runSuite(name: string, { env, output }: SuiteOptions): Promise<SuiteResult> {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-test-'))
  const file = path.join(folder, 'report.json')
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs')
  const args = ['run', '--project', name, '--reporter=default', `--reporter=${REPORTER}`]
  const start = output === 'terminal' ? run : capture
  const limits = { env: { ...env, [REPORT_VARIABLE]: file }, limitMs: SUITE_LIMIT_MS }
  const ended = await start(process.execPath, [vitest, ...args], limits)
  const { tests, problems } = await readReport(file)
  await rm(folder, { recursive: true })

  const passed = tests.filter(({ state }) => state === 'passed').length
  const failed = tests.filter(({ state }) => state === 'failed').length + problems.length
  const isBroken = failed === 0 && (ended.code !== 0 || passed === 0)
  const verdict = `The suite ${name} ${complaintOf(ended.code, passed)}.\n`
  return {
    passed,
    failed: isBroken ? 1 : failed,
    output: isBroken ? ended.output + verdict : ended.output,
    tests: tests.map((test) => ({ ...test, name: `${name}: ${test.name}` })),
    problems: problems.map((problem) => ({ ...problem, name: `${name}: ${problem.name}` })),
  }
}
