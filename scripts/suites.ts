/** The test suites in the order in which they start. */

export interface Suite {
  readonly name: string
  /** The suite uses the output of the build. */
  readonly needsBuild: boolean
  /** When the suite starts servers, or uses the shared ones. */
  readonly server: 'never' | 'unless_embedded' | 'always'
  /** The suite uses the servers that all suites of a run share. */
  readonly sharesServers: boolean
  /** What limits the suite: the CPU, or timers and processes that it waits for. */
  readonly lane: 'computing' | 'waiting'
}

const none = { needsBuild: false, server: 'never', sharesServers: false } as const
const shared = { needsBuild: true, server: 'unless_embedded', sharesServers: true } as const
const own = { needsBuild: true, server: 'unless_embedded', sharesServers: false } as const

/** The longest suites of each lane come first, so that the lanes end at about the same time. */
const suites: readonly Suite[] = [
  { name: 'conformance', lane: 'computing', ...shared },
  { name: 'simulation', lane: 'computing', ...none },
  { name: 'differential', lane: 'computing', ...shared },
  { name: 'properties', lane: 'computing', ...shared },
  { name: 'unit', lane: 'computing', ...none },
  { name: 'http', lane: 'computing', ...shared },
  { name: 'table', lane: 'computing', ...none },
  { name: 'faults', lane: 'waiting', ...own, server: 'always' },
  { name: 'e2e', lane: 'waiting', ...own },
  { name: 'postgres', lane: 'waiting', ...shared, server: 'always' },
  { name: 'crash', lane: 'waiting', ...own },
  { name: 'dashboard', lane: 'waiting', ...own, server: 'always' },
  { name: 'valkey', lane: 'waiting', ...shared, server: 'always' },
  { name: 'servers', lane: 'waiting', ...shared, needsBuild: false, server: 'always' },
]

/** Returns the suites with these names, or all; embedded, only those with tests that need no server. */
export function chooseSuites(names: readonly string[], isEmbedded: boolean): Suite[] {
  for (const name of names) {
    if (suites.every((suite) => suite.name !== name)) throw new Error(`There is no suite ${name}.`)
  }
  const named = suites.filter((suite) => names.length === 0 || names.includes(suite.name))
  return isEmbedded ? named.filter((suite) => suite.server !== 'always') : named
}
