/**
 * Works off the mixed work and writes down, apart from the store, what the bodies of its handlers did.
 *
 *   node worker-process.ts <store> <side record> <lease in ms>
 */
import { createFabric } from '../../src/fabric/index.ts'
import { complainingLog, sayReady, untilStopped } from './process.ts'
import { SideRecord } from './side-record.ts'
import { kinds } from './work.ts'
import type { BodyEntry } from './work.ts'

const [location = '', sideFile = '', leaseTtlMs = ''] = process.argv.slice(2)

const side = new SideRecord<BodyEntry>(sideFile)
const handlers = kinds.map(({ task, run }) =>
  task.handle(async (work, context) => {
    const { executionId, attempt } = context
    side.write({ step: 'begun', executionId, attempt })
    const answer = await run(work, context)
    side.write({ step: 'ended', executionId, attempt, answer })
    return answer
  }),
)

await using fabric = await createFabric(location, { log: complainingLog })
await fabric.work(handlers, { concurrency: 16, leaseTtl: Number(leaseTtlMs), engine: false })
const stopped = untilStopped()
sayReady()
await stopped
