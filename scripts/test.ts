/**
 * Runs the test suites, each in a process of its own, and ends with one line: how many tests passed and how many failed.
 * A check that fails, a suite that crashes and a suite without tests count as a failure.
 *
 *   node scripts/test.ts               the static checks, the build, every suite
 *   node scripts/test.ts --embedded    every suite, but only the tests that need no server
 *   node scripts/test.ts unit e2e      the suites named
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { runChecks } from './check.ts'
import { ensureServers } from './ensure-servers.ts'
import { root, run, seconds } from './run.ts'

interface Suite {
  readonly name: string
  /** The suite uses what the build makes. */
  readonly needsBuild: boolean
  readonly server: 'never' | 'unless_embedded' | 'always'
}

const suites: Suite[] = [
  { name: 'unit', needsBuild: false, server: 'never' },
  { name: 'table', needsBuild: false, server: 'never' },
  { name: 'table-valkey', needsBuild: true, server: 'always' },
  { name: 'servers', needsBuild: false, server: 'always' },
  { name: 'conformance', needsBuild: true, server: 'unless_embedded' },
  { name: 'properties', needsBuild: true, server: 'unless_embedded' },
  { name: 'simulation', needsBuild: false, server: 'never' },
  { name: 'differential', needsBuild: true, server: 'unless_embedded' },
  { name: 'valkey', needsBuild: true, server: 'always' },
  { name: 'postgres', needsBuild: true, server: 'always' },
  { name: 'faults', needsBuild: true, server: 'always' },
  { name: 'crash', needsBuild: true, server: 'unless_embedded' },
  { name: 'e2e', needsBuild: true, server: 'unless_embedded' },
]

const SUITE_LIMIT_MS = 20 * 60_000

interface Count {
  readonly name: string
  readonly passed: number
  readonly failed: number
  readonly time: string
}

const reportSchema = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  testResults: z.array(z.object({ status: z.string(), assertionResults: z.array(z.object({ status: z.string() })) })),
})

/** A file that could not be loaded has no failed test of its own, and still is a failure. */
function failuresIn(report: z.infer<typeof reportSchema>): number {
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'),
  )
  return report.numFailedTests + broken.length
}

async function readReport(file: string): Promise<{ passed: number; failed: number }> {
  try {
    const report = reportSchema.parse(JSON.parse(await readFile(file, 'utf8')))
    return { passed: report.numPassedTests, failed: failuresIn(report) }
  } catch {
    return { passed: 0, failed: 0 }
  }
}

async function runSuite(name: string, isEmbedded: boolean): Promise<Count> {
  const startedAt = performance.now()
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-test-'))
  const file = path.join(folder, 'report.json')
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs')
  const args = ['run', '--project', name, '--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const { code } = await run(process.execPath, [vitest, ...args], {
    env: isEmbedded ? { FLOWFABRIC_TEST_EMBEDDED: '1' } : {},
    limitMs: SUITE_LIMIT_MS,
  })
  const { passed, failed } = await readReport(file)
  await rm(folder, { recursive: true })

  const isBroken = failed === 0 && (code !== 0 || passed === 0)
  if (isBroken) console.log(`The suite ${name} ${passed === 0 ? 'ran no tests' : 'did not end well'}.`)
  return { name, passed, failed: isBroken ? 1 : failed, time: seconds(startedAt) }
}

/** Does something that the suites need. Only a failure counts: preparing is not a test. */
async function prepare(name: string, work: () => Promise<boolean>): Promise<Count> {
  const startedAt = performance.now()
  const succeeded = await work().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    return false
  })
  return { name, passed: 0, failed: succeeded ? 0 : 1, time: seconds(startedAt) }
}

function heading(name: string): void {
  console.log(`\n== ${name}`)
}

function summarise(counts: readonly Count[]): void {
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

function choose(names: readonly string[], isEmbedded: boolean): Suite[] {
  for (const name of names) {
    if (suites.every((suite) => suite.name !== name)) throw new Error(`There is no suite ${name}.`)
  }
  const named = names.length === 0 ? suites : suites.filter((suite) => names.includes(suite.name))
  return isEmbedded ? named.filter((suite) => suite.server !== 'always') : named
}

const { values, positionals } = parseArgs({
  options: { embedded: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const isEmbedded = values.embedded
const chosen = choose(positionals, isEmbedded)
const counts: Count[] = []

if (positionals.length === 0 && !isEmbedded) {
  heading('check')
  counts.push(await prepare('check', async () => (await runChecks()).length === 0))
}
if (chosen.some((suite) => suite.needsBuild)) {
  heading('build')
  counts.push(await prepare('build', async () => (await run('npm', ['run', '--silent', 'build'])).code === 0))
}
if (!isEmbedded && chosen.some((suite) => suite.server !== 'never')) {
  heading('installation')
  counts.push(await prepare('installation', async () => (await ensureServers()).length > 0))
}
for (const suite of chosen) {
  heading(suite.name)
  counts.push(await runSuite(suite.name, isEmbedded))
}
summarise(counts)
