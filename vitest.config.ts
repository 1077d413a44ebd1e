import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { defineConfig } from 'vitest/config'
import type { TestProjectInlineConfiguration } from 'vitest/config'
import { LongestFirst } from './test/longest-first.ts'
import { isEmbedded } from './test/servers/embedded.ts'

/** Gives the test files of a suite the servers that they share. */
const SUITE_SERVERS = 'test/servers/suite-servers.ts'

/** Checks every operation that runs in a test process against the rules of the kernel, and closes what a file leaves open. */
const EACH_FILE = 'test/each-file.ts'

/** The names of test files that need a server: `valkey.test.ts`, or `<subject>.postgres.test.ts`. */
const SERVER_TESTS = '**/{*.,}{valkey,postgres}.test.ts'

/** Measurements beside very many records, which take long: only if their number is given. */
const SCALE_TESTS = 'test/dashboard/scale.test.ts'
const measuresScale = process.env['FLOWFABRIC_DASHBOARD_SCALE'] !== undefined

/** Files of stores that no test takes the power from: in memory they need not wait for a disk. */
const MEMORY_FOLDER = '/dev/shm'
const quickFolder = existsSync(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir()

interface Suite {
  readonly name: string
  readonly include: string
  /** Ends a test that hangs. Far more than any test needs, also on a machine that is busy with something else. */
  readonly timeoutMs: number
  /** Each file in a process of its own and on the disk, for tests that start processes and mostly wait for them. */
  readonly startsProcesses?: boolean
  /** Its test files use the shared servers, unless the tests run without servers. */
  readonly hasServers?: boolean
}

const suites: Suite[] = [
  { name: 'unit', include: '{src,scripts}/**/*.test.ts', timeoutMs: 120_000 },
  { name: 'table', include: 'test/table/**/*.test.ts', timeoutMs: 120_000 },
  { name: 'servers', include: 'test/servers/**/*.test.ts', timeoutMs: 120_000, hasServers: true },
  { name: 'conformance', include: 'test/conformance/**/*.test.ts', timeoutMs: 120_000, hasServers: true },
  { name: 'properties', include: 'test/properties/**/*.test.ts', timeoutMs: 480_000, hasServers: true },
  { name: 'simulation', include: 'test/simulation/**/*.test.ts', timeoutMs: 600_000 },
  { name: 'differential', include: 'test/differential/**/*.test.ts', timeoutMs: 480_000, hasServers: true },
  { name: 'valkey', include: 'test/valkey/**/*.test.ts', timeoutMs: 120_000, hasServers: true },
  { name: 'postgres', include: 'test/postgres/**/*.test.ts', timeoutMs: 120_000, hasServers: true },
  { name: 'http', include: 'test/http/**/*.test.ts', timeoutMs: 180_000, hasServers: true },
  { name: 'dashboard', include: 'test/dashboard/**/*.test.ts', timeoutMs: 240_000 },
  { name: 'faults', include: 'test/faults/**/*.test.ts', timeoutMs: 360_000, startsProcesses: true },
  { name: 'crash', include: 'test/crash/**/*.test.ts', timeoutMs: 360_000, startsProcesses: true },
  { name: 'e2e', include: 'test/e2e/**/*.test.ts', timeoutMs: 240_000, startsProcesses: true },
]

function project({
  name,
  include,
  timeoutMs,
  startsProcesses = false,
  hasServers = false,
}: Suite): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: {
      name,
      include: [include],
      exclude: [...(isEmbedded ? [SERVER_TESTS] : []), ...(measuresScale ? [] : [SCALE_TESTS])],
      testTimeout: timeoutMs,
      hookTimeout: timeoutMs,
      // Loading all modules anew for each file would take a third of the time of a suite.
      isolate: startsProcesses,
      env: startsProcesses ? {} : { TMPDIR: quickFolder },
      setupFiles: [EACH_FILE],
      globalSetup: hasServers && !isEmbedded ? [SUITE_SERVERS] : [],
    },
  }
}

export default defineConfig({
  test: {
    environment: 'node',
    pool: 'forks',
    maxWorkers: 2,
    allowOnly: false,
    teardownTimeout: 10_000,
    sequence: { sequencer: LongestFirst },
    // Suites are processes of their own: without it, each of them transforms all sources again.
    experimental: { fsModuleCache: true },
    projects: suites.map(project),
  },
})
