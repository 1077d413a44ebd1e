#!/usr/bin/env node
/**
 * The `flowfabric` command. This file and its static imports run on any Node, so that a version that is too old gets a
 * clear error. Everything else is imported after the check.
 */
import module from 'node:module'
import { nodeRefusal } from './process/node-version.ts'
import { silenceSqliteWarning } from './process/sqlite-warning.ts'

const refusal = nodeRefusal(process.versions.node)
if (refusal === undefined) {
  module.enableCompileCache()
  silenceSqliteWarning()
  const { main } = await import('./program.ts')
  await main(process.argv.slice(2))
} else {
  console.error(refusal)
  process.exitCode = 1
}
