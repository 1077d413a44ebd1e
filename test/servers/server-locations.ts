/** Where a test finds the servers that it shares with all others. */
import { inject } from 'vitest'
import { isEmbedded } from './embedded.ts'
import type { ServerLocations } from './shared-servers.ts'

declare module 'vitest' {
  interface ProvidedContext {
    serverLocations?: ServerLocations
  }
}

/**
 * Returns the locations of the shared servers; undefined if the tests run without servers. Test files of all suites use these
 * servers at the same time. So a test keeps its data under a unique name and runs no command that affects other clients.
 */
export function serverLocations(): ServerLocations | undefined {
  if (isEmbedded) return undefined
  const locations = inject('serverLocations')
  if (locations === undefined)
    throw new Error('This suite has no servers. vitest.config.ts lists the suites that have some.')
  return locations
}
