/** Gives the test files of a suite their servers: those of the run, or servers that start and stop with the suite. */
import type { TestProject } from 'vitest/node'
import { locationsFromEnvironment, startSharedServers } from './shared-servers.ts'

/** Called by Vitest once for each suite that names this file. The result is called after the last test file. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const locations = locationsFromEnvironment()
  if (locations !== undefined) {
    project.provide('serverLocations', locations)
    return async () => undefined
  }
  const servers = await startSharedServers()
  project.provide('serverLocations', servers.locations)
  return servers.stop
}
