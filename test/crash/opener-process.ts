/**
 * Opens a store when its parent asks for it, submits one piece of work and writes down that it was acknowledged.
 *
 *   node opener-process.ts <store> <side record> <name>
 */
import { createFabric } from '../../src/fabric/index.ts'
import { complainingLog, sayReady, untilStopped, untilTold } from './process.ts'
import { SideRecord } from './side-record.ts'
import { keyOf, kindOf } from './work.ts'
import type { SubmitterEntry } from './work.ts'

const [location = '', sideFile = '', submitter = ''] = process.argv.slice(2)

const side = new SideRecord<SubmitterEntry>(sideFile)
sayReady()
await untilTold()
await using fabric = await createFabric(location, { log: complainingLog })
const work = { submitter, number: 0 }
const execution = await fabric.submit(kindOf(work).task, work, { id: keyOf(work) })
side.write({ step: 'acknowledged', number: work.number, executionId: execution.id })
await untilStopped()
