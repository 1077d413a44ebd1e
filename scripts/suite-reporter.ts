/**
 * Writes what a suite did to the file that `FLOWFABRIC_SUITE_REPORT` names: each test, and each failure outside of a test. A failure is
 * described by its message, its place and the lines of the difference, so that the summary of a run explains it.
 */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { SerializedError } from 'vitest'
import type { Reporter, TestCase, TestModule } from 'vitest/node'
import { root } from './run.ts'

/** A test of a suite. */
export interface TestResult {
  readonly name: string
  readonly state: 'passed' | 'failed' | 'skipped' | 'pending'
  readonly durationMs: number
  /** The description of the failure; empty unless it failed. */
  readonly failure: string
}

export interface SuiteReport {
  readonly tests: readonly TestResult[]
  /** Failures outside of tests: a file that does not load, a hook that fails, an error that no test handled. */
  readonly problems: readonly Pick<TestResult, 'name' | 'failure'>[]
}

export const REPORT_VARIABLE = 'FLOWFABRIC_SUITE_REPORT'

/** The lines of a message that are kept. Those of an assertion repeat its difference. */
const MESSAGE_LINES = 4
/** The lines of the log that a browser adds to the message of a time-out. They say what it waited for and what it found. */
const CALL_LOG_LINES = 24
const CALL_LOG = 'Call log:'
const LINE_LENGTH = 500

class SuiteReporter implements Reporter {
  async onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): Promise<void> {
    const file = process.env[REPORT_VARIABLE]
    if (file === undefined) throw new Error(`Set ${REPORT_VARIABLE} to the file of the report.`)
    const report: SuiteReport = {
      tests: modules.flatMap((module) => [...module.children.allTests()].map(resultOf)),
      problems: [...modules.flatMap(problemsOf), ...problem('an error outside of all tests', unhandled)],
    }
    await writeFile(file, JSON.stringify(report))
  }
}

// Vitest loads the default export of a reporter.
export default SuiteReporter

function resultOf(test: TestCase): TestResult {
  const { state, errors } = test.result()
  return {
    name: test.fullName.replaceAll(' > ', ' '),
    state,
    durationMs: test.diagnostic()?.duration ?? 0,
    failure: state === 'failed' ? describeFailures(errors) : '',
  }
}

function problemsOf(module: TestModule): SuiteReport['problems'] {
  const groups = [...module.children.allSuites()].map((suite) => problem(suite.fullName, suite.errors()))
  return [...problem(path.relative(root, module.moduleId), module.errors()), ...groups.flat()]
}

function problem(name: string, errors: readonly SerializedError[]): SuiteReport['problems'] {
  return errors.length === 0 ? [] : [{ name, failure: describeFailures(errors) }]
}

/** Describes each error by its message, its place in the sources, its cause and the lines that differ. */
export function describeFailures(errors: readonly SerializedError[]): string {
  return errors
    .flatMap(linesOf)
    .map((line) => (line.length > LINE_LENGTH ? `${line.slice(0, LINE_LENGTH)}…` : line))
    .join('\n')
}

function linesOf(error: SerializedError): string[] {
  const { name = 'Error', message, stacks = [], cause, diff } = error
  const place = stacks[0]
  return [
    ...messageLines(`${name}: ${stripVTControlCharacters(message)}`.split('\n')),
    ...(place === undefined ? [] : [`at ${path.relative(root, place.file)}:${place.line}:${place.column}`]),
    ...(cause === undefined ? [] : [`${cause.name}: ${cause.message}`.split('\n', 1)[0] ?? '']),
    ...(typeof diff === 'string' ? differingLines(diff) : []),
  ]
}

/** Keeps the beginning of a message, and of its call log the first line, which names the element, and the last ones. */
function messageLines(lines: readonly string[]): string[] {
  const start = lines.indexOf(CALL_LOG)
  if (start === -1) return lines.slice(0, MESSAGE_LINES)
  const log = lines.slice(start + 1).filter((line) => line.trim() !== '')
  const omittedCount = log.length - CALL_LOG_LINES
  return [
    ...lines.slice(0, Math.min(start, MESSAGE_LINES)),
    CALL_LOG,
    ...log.slice(0, 1),
    ...(omittedCount > 0 ? [`  (${omittedCount} lines are left out)`] : []),
    ...log.slice(1).slice(1 - CALL_LOG_LINES),
  ]
}

/** Keeps the lines that only one side has, without the heading. */
function differingLines(diff: string): string[] {
  const lines = stripVTControlCharacters(diff).split('\n')
  return lines.filter((line) => /^[-+] /.test(line) && !/^(- Expected|\+ Received)\b/.test(line))
}
