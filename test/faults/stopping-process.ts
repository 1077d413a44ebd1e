/**
 * Takes the lock of a partition again and again and stops itself there, as if its machine stood still: before a load or
 * commit of a locked run is sent, while it is on its way, or when the reply has come. Its parent resumes it.
 *
 *   node stopping-process.ts <store> <side record> <seed>
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { executionPartition } from '../../src/stores/store.ts'
import { ValkeyBackend } from '../../src/stores/valkey/valkey-backend.ts'
import type { LockToken } from '../../src/stores/working-set/commit/backend.ts'
import { createFabric } from '../../src/fabric/index.ts'
import { complainingLog, sayReady, untilStopped } from '../crash/process.ts'
import { seededRandom } from '../../src/runtime/seeded-random.fixture.ts'
import { SideRecord } from '../crash/side-record.ts'
import { LANE, stoppingPoints } from './stopping-points.ts'
import type { StopEntry, StoppingPoint } from './stopping-points.ts'

/** Passages of a point between two stops, at most. */
const BETWEEN_STOPS_MAX = 4

const [location = '', sideFile = '', seed = ''] = process.argv.slice(2)
const random = seededRandom(Number(seed))
const side = new SideRecord<StopEntry>(sideFile)
const stopping = new AbortController()
let nextPoint: StoppingPoint = stoppingPoints[0]
let stopCount = 0
let passagesLeft = BETWEEN_STOPS_MAX

function pass(point: StoppingPoint): void {
  if (stopping.signal.aborted || point !== nextPoint || passagesLeft-- > 0) return
  stopCount += 1
  nextPoint = stoppingPoints[stopCount % stoppingPoints.length] ?? stoppingPoints[0]
  passagesLeft = random.between(0, BETWEEN_STOPS_MAX)
  side.write({ point })
  process.kill(process.pid, 'SIGSTOP')
}

/** Has a call of the backend pass the points where the process may stop, if it belongs to a locked run. */
function stopIn<Request extends { readonly lock?: LockToken | undefined }, Reply>(
  what: 'load' | 'commit',
  send: (this: ValkeyBackend, request: Request) => Promise<Reply>,
) {
  return async function (this: ValkeyBackend, request: Request): Promise<Reply> {
    if (request.lock === undefined) return await send.call(this, request)
    pass(`before ${what}`)
    const reply = send.call(this, request)
    // What was written in this turn is on its way in the next.
    await nextTurn()
    pass(`during ${what}`)
    const result = await reply
    pass(`after ${what}`)
    return result
  }
}

/* eslint-disable @typescript-eslint/unbound-method -- each is called with the backend as its `this` */
ValkeyBackend.prototype.load = stopIn('load', ValkeyBackend.prototype.load)
ValkeyBackend.prototype.commit = stopIn('commit', ValkeyBackend.prototype.commit)
/* eslint-enable @typescript-eslint/unbound-method */

await using fabric = await createFabric(location, { log: complainingLog })
const partition = executionPartition(0)
void untilStopped().then(() => stopping.abort())
sayReady()

const retry = { attempts: 1, backoff: { kind: 'fixed' as const, delayMs: 0 }, jitter: false, onlyCategories: [] }
const cancel = { reason: 'done', by: 'the test', graceMs: 0, force: true }

/** Each round forgets a queue under the lock, by a replacement and by a purge, and looks for a claim that it never made. */
for (let round = 0; !stopping.signal.aborted; round++) {
  const { runtime, batcher } = fabric
  const executionId = fabric.try.resolve(`stopping ${round}`)
  const create = (className: string) =>
    batcher.run(partition, 'createExecution', {
      executionId,
      key: `stopping ${round}`,
      requestId: runtime.uuid(),
      namespace: 'default',
      task: 'stopping',
      lane: LANE,
      class: className,
      priority: 0,
      tags: [],
      retry,
      retentionMs: 0,
      ifExists: 'replace',
    })
  await create('first')
  await create('second')
  await batcher.run(partition, 'claimForWorker', {
    requestId: runtime.uuid(),
    workerId: 'stopping',
    workerInstanceId: 'stopping',
    queues: [{ lane: LANE, class: 'third' }],
    count: 1,
    leaseTtlMs: 30_000,
    repeated: true,
    seed: 1,
  })
  await batcher.run(partition, 'cancelExecution', { executionId, ...cancel })
  await batcher.run(partition, 'purgeExecutions', {})
}
side.close()
