/**
 * Does the background work and nothing else.
 *
 *   node engine-process.ts <store>
 */
import { createFabric } from '../../src/fabric/index.ts'
import { complainingLog, sayReady, untilStopped } from './process.ts'

const [location = ''] = process.argv.slice(2)

await using fabric = await createFabric(location, { log: complainingLog })
fabric.engine()
const stopped = untilStopped()
sayReady()
await stopped
