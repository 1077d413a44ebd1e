/**
 * Runs the test suites, each in a separate process. The last line contains the numbers of passed and failed tests.
 * A check that fails, a suite that crashes and a suite without tests count as a failure.
 *
 *   node scripts/test.ts               the static checks, the build, every suite
 *   node scripts/test.ts --embedded    every suite, but only the tests that need no server
 *   node scripts/test.ts unit e2e      the suites named
 *
 * Suites run in two lanes, one for suites that mostly wait and one for suites that mostly compute. The output of a suite is printed when the
 * suite ends. Suites share servers, which are started once. Suites and servers end with this process.
 */
import { parseArgs } from 'node:util'
import { environmentOf, startSharedServers } from '../test/servers/shared-servers.ts'
import type { SharedServers } from '../test/servers/shared-servers.ts'
import { runChecks } from './check.ts'
import { ensureServers } from './ensure-servers.ts'
import { runLanes } from './lanes.ts'
import type { Job } from './lanes.ts'
import { captureScript, seconds } from './run.ts'
import { runSuite } from './run-suite.ts'
import type { SuiteResult } from './run-suite.ts'
import type { TestResult } from './suite-reporter.ts'
import { chooseSuites } from './suites.ts'
import type { Suite } from './suites.ts'

const SLOWEST_SHOWN = 10
/** The number of lines of each failure in the summary. */
const FAILURE_LINES = 12

type Outcome = Pick<SuiteResult, 'passed' | 'failed' | 'output'>

interface Count extends Outcome {
  readonly name: string
  readonly time: string
}

const counts: Count[] = []
const tests: TestResult[] = []
/** Failed tests, and failures outside of tests. */
const failures: Pick<TestResult, 'name' | 'failure'>[] = []

function heading(text: string): void {
  console.log(`\n== ${text}`)
}

/** Runs one part. Prints its start and its end, and its output in one piece. */
async function part(name: string, work: () => Promise<Outcome>): Promise<void> {
  const startedAt = performance.now()
  console.log(`started ${name}`)
  const outcome = await work().catch((error: unknown) => ({
    passed: 0,
    failed: 1,
    output: String(error instanceof Error ? error.message : error),
  }))
  const count = { name, ...outcome, time: seconds(startedAt) }
  counts.push(count)
  if (count.output !== '') {
    heading(`${name} (${count.time})`)
    console.log(count.output.trimEnd())
    console.log()
  }
  console.log(`ended ${name} after ${count.time}: ${verdictOf(count)}`)
}

function verdictOf({ passed, failed }: Outcome): string {
  if (passed === 0) return failed === 0 ? 'ok' : 'FAILED'
  return `${passed} passed, ${failed} failed`
}

/** Returns the outcome of a preparation. Only a failure counts, because a preparation is not a test. */
function prepared(succeeded: boolean, output = ''): Outcome {
  return { passed: 0, failed: succeeded ? 0 : 1, output }
}

async function check(): Promise<Outcome> {
  const lines: string[] = []
  const failed = await runChecks((text) => lines.push(text))
  return prepared(failed.length === 0, lines.join('\n'))
}

async function build(): Promise<Outcome> {
  const { code, output } = await captureScript('build')
  return prepared(code === 0, code === 0 ? '' : output)
}

function summarise(): void {
  heading(`the ${SLOWEST_SHOWN} slowest tests`)
  for (const { name, durationMs } of tests.sort((a, b) => b.durationMs - a.durationMs).slice(0, SLOWEST_SHOWN)) {
    console.log(`${`${(durationMs / 1000).toFixed(1)} s`.padStart(8)}  ${name}`)
  }
  if (failures.length > 0) heading('failed tests')
  for (const { name, failure } of failures) {
    console.log(`${name}\n    ${failure.split('\n').slice(0, FAILURE_LINES).join('\n    ')}`)
  }
  heading('summary')
  for (const { name, passed, failed, time } of counts) {
    const verdict = failed === 0 ? 'ok    ' : 'FAILED'
    console.log(`${verdict} ${name.padEnd(14)} ${`${passed} passed, ${failed} failed`.padEnd(26)} ${time}`)
  }
  const passed = counts.reduce((sum, count) => sum + count.passed, 0)
  const failed = counts.reduce((sum, count) => sum + count.failed, 0)
  console.log(`\n${passed} passed, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
}

const { values, positionals } = parseArgs({
  options: { embedded: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const isEmbedded = values.embedded
const chosen = chooseSuites(positionals, isEmbedded)
let servers: SharedServers | undefined

async function installAndStart(): Promise<void> {
  await part('installation', async () => prepared((await ensureServers()).length > 0))
  // A single suite starts its own servers.
  if (chosen.filter((suite) => suite.sharesServers).length < 2) return
  await part('server start', async () => {
    servers = await startSharedServers()
    return prepared(true)
  })
}

function suiteJob({ name }: Suite): Job {
  return () =>
    part(name, async () => {
      const env = isEmbedded ? { FLOWFABRIC_TEST_EMBEDDED: '1' } : servers && environmentOf(servers.locations)
      const result = await runSuite(name, { env: env ?? {}, output: chosen.length === 1 ? 'terminal' : 'result' })
      tests.push(...result.tests)
      failures.push(...result.tests.filter(({ state }) => state === 'failed'), ...result.problems)
      return result
    })
}

function laneOf(lane: Suite['lane']): Job[] {
  return chosen.filter((suite) => suite.lane === lane).map(suiteJob)
}

const preparing: Job[] = []
if (chosen.some((suite) => suite.needsBuild)) preparing.push(() => part('build', build))
if (!isEmbedded && chosen.some((suite) => suite.server !== 'never')) preparing.push(installAndStart)
await runLanes(preparing.map((job) => [job]))
try {
  const checking = positionals.length === 0 && !isEmbedded ? [() => part('check', check)] : []
  await runLanes([[...checking, ...laneOf('computing')], laneOf('waiting')])
} finally {
  await servers?.stop()
}
summarise()
