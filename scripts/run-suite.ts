/** Runs one test suite in a separate process and counts its tests. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { z } from 'zod'
import { capture, root, run } from './run.ts'

/** Ends a suite that hangs. The limit is generous, because suites run concurrently. */
const SUITE_LIMIT_MS = 60 * 60_000

export interface SuiteOptions {
  readonly env: Record<string, string>
  /** The destination of the output. */
  readonly output: 'terminal' | 'result'
}

export interface TestResult {
  readonly name: string
  readonly durationMs: number
  /** The message of a failed test. */
  readonly failure: string | undefined
}

export interface SuiteResult {
  readonly passed: number
  readonly failed: number
  readonly output: string
  readonly tests: readonly TestResult[]
}

const reportSchema = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  testResults: z.array(
    z.object({
      status: z.string(),
      assertionResults: z.array(
        z.object({
          status: z.string(),
          fullName: z.string(),
          duration: z.number().nullish(),
          failureMessages: z.array(z.string()).nullish(),
        }),
      ),
    }),
  ),
})

type Report = z.infer<typeof reportSchema>

const emptyReport: Report = { numPassedTests: 0, numFailedTests: 0, testResults: [] }

/** Counts files that could not be loaded: they have no failed test, but are failures. */
function failuresIn(report: Report): number {
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'),
  )
  return report.numFailedTests + broken.length
}

/** Returns an empty report for a suite that ended before it wrote one. */
async function readReport(file: string): Promise<Report> {
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
  const args = ['run', '--project', name, '--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const start = output === 'terminal' ? run : capture
  const ended = await start(process.execPath, [vitest, ...args], { env, limitMs: SUITE_LIMIT_MS })
  const report = await readReport(file)
  await rm(folder, { recursive: true })

  const passed = report.numPassedTests
  const failed = failuresIn(report)
  const isBroken = failed === 0 && (ended.code !== 0 || passed === 0)
  const verdict = `The suite ${name} ${complaintOf(ended.code, passed)}.\n`
  return {
    passed,
    failed: isBroken ? 1 : failed,
    output: isBroken ? ended.output + verdict : ended.output,
    tests: report.testResults
      .flatMap((results) => results.assertionResults)
      .map(({ status, fullName, duration, failureMessages }) => ({
        name: `${name}: ${fullName}`,
        durationMs: duration ?? 0,
        failure: status === 'failed' ? (failureMessages ?? []).join('\n') : undefined,
      })),
  }
}
