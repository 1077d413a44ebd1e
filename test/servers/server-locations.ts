/** How tests learn of the servers that their suite has started for all of them. */
import { inject } from 'vitest'
import { isEmbedded } from './embedded.ts'

/** One server of every kind that a store can be opened on, in the form in which a program names its store. */
export interface ServerLocations {
  readonly valkey: string
  readonly redis: string
  readonly cluster: string
  /** The PostgreSQL that the machine has. */
  readonly postgres: string
  /** The newest PostgreSQL that can be had. */
  readonly postgresNewest: string
}

declare module 'vitest' {
  interface ProvidedContext {
    serverLocations?: ServerLocations
  }
}

/**
 * The servers of this suite, shared by all of its test files: what a test keeps there needs names of its own. Undefined if
 * the tests are to do without servers.
 */
export function serverLocations(): ServerLocations | undefined {
  if (isEmbedded) return undefined
  const locations = inject('serverLocations')
  if (locations === undefined) throw new Error('This suite has no servers. vitest.config.ts says which suites have.')
  return locations
}
