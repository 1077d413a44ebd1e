/**
 * Works on one piece of work and kills itself at one of the calls that it makes for it: before the store has seen the
 * call, or after the store has answered.
 *
 *   node stepper-process.ts <store> <side record> <kind of work> <number of the work> <before or after> <number of the call>
 */
import type { Handler } from '../../src/client/index.ts'
import { systemRuntime } from '../../src/runtime/index.ts'
import { openStore } from '../../src/stores/open/open-store.ts'
import type { Call, Store } from '../../src/stores/store.ts'
import { Fabric } from '../../src/fabric/index.ts'
import { complainingLog, sayReady, untilStopped } from './process.ts'
import { SideRecord } from './side-record.ts'
import { steppedHandler } from './stepped-work.ts'
import type { StepRunEntry } from './kill-at-each-call.ts'
import { spendingHandler } from './spending-work.ts'
import { undoneHandler } from './undone-work.ts'

const [location = '', sideFile = '', kind = '', work = '', moment = '', call = ''] = process.argv.slice(2)

const SHORT_LEASE_MS = 1_000
/** Calls of a worker that are no part of the work. */
const ASIDE: readonly string[] = [
  'registerWorker',
  'heartbeatWorker',
  'unregisterWorker',
  'claimForWorker',
  'renewLease',
  'runDue',
  'defineBudget',
  'renewPermits',
  'returnPermits',
  'renewReservations',
]

let callCount = 0

function isDeadly(calls: readonly Call[]): boolean {
  if (calls.every(({ operation }) => ASIDE.includes(operation))) return false
  callCount += 1
  return callCount === Number(call)
}

function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => undefined)
}

function deadly(store: Store): Store {
  const run: Store['run'] = async (partition, calls) => {
    const isLast = isDeadly(calls)
    if (isLast && moment === 'before') await die()
    const answers = await store.run(partition, calls)
    if (isLast) await die()
    return answers
  }
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'run') return run
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

function handlerOf(number: number, who: string, note: (run: StepRunEntry) => void): Handler {
  switch (kind) {
    case 'stepped':
      return steppedHandler(number, who, note)
    case 'spending':
      return spendingHandler(number, who, note)
    case 'failed':
    case 'cancelled':
      return undoneHandler(kind, number, who, note)
    default:
      throw new Error(`There is no work of the kind ${kind}.`)
  }
}

const runtime = systemRuntime()
const side = new SideRecord<StepRunEntry>(sideFile)
const store = deadly(await openStore(location, { runtime, log: complainingLog }))
await using fabric = new Fabric(store, runtime, { log: complainingLog })
const handler = handlerOf(Number(work), `process ${work}`, (run) => side.write(run))
await fabric.work([handler], { concurrency: 1, leaseTtl: SHORT_LEASE_MS, engine: false })
const stopped = untilStopped()
sayReady()
await stopped
