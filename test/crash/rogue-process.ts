/**
 * Claims work, lets its leases run out and then insists on them: every way in which a holder can change an execution is
 * tried with a fence that is not valid any more. What it is answered, it writes down.
 *
 *   node rogue-process.ts <store> <side record> <lease in ms>
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Claimed } from '../../src/kernel/index.ts'
import { executionPartition } from '../../src/stores/store.ts'
import { createFabric } from '../../src/fabric/index.ts'
import type { Fabric } from '../../src/fabric/index.ts'
import { complainingLog, sayReady, untilStopped } from './process.ts'
import { SideRecord } from './side-record.ts'
import { renewing } from './work.ts'
import type { RogueEntry } from './work.ts'

const [location = '', sideFile = '', leaseTtlText = ''] = process.argv.slice(2)
const leaseTtlMs = Number(leaseTtlText)
/** From the claim on: long enough that the lease is gone, short enough that the next holder is still at work. */
const INSIST_AFTER_MS = 1.5 * leaseTtlMs
const CLAIM_EVERY_MS = leaseTtlMs
/** So few that no execution fails because it has lost its lease too often. */
const INSIST_MAX = 3

async function claim(fabric: Fabric): Promise<Claimed[]> {
  const { result } = await fabric.batcher.run(executionPartition(0), 'claimForWorker', {
    requestId: fabric.runtime.uuid(),
    workerId: 'rogue',
    workerInstanceId: `rogue-${process.pid}`,
    queues: [{ lane: renewing.task.policy.lane, class: renewing.task.name }],
    count: 1,
    leaseTtlMs,
    seed: 1,
  })
  return result.executions
}

/** The answer to each call, by its operation. */
async function insist(fabric: Fabric, { executionId, fence }: Claimed): Promise<RogueEntry> {
  const held = { executionId, fence }
  const partition = executionPartition(0)
  const bytes = Buffer.from('"forged"')
  const result = { blob: 0, size: bytes.byteLength, encoding: 'json' } as const
  const replies = await Promise.all([
    fabric.batcher.run(partition, 'renewLease', { ...held, leaseTtlMs }),
    fabric.batcher.run(partition, 'updateProgress', { ...held, percent: 100 }),
    fabric.batcher.run(partition, 'completeExecution', { ...held, result }, [bytes]),
    fabric.batcher.run(partition, 'failExecution', { ...held, failure: { category: 'forged', message: '' }, seed: 1 }),
    fabric.batcher.run(partition, 'releaseExecution', { ...held, reason: 'forged' }),
    fabric.batcher.run(partition, 'delayExecution', { ...held, delayMs: 0 }),
  ])
  return {
    executionId,
    answers: replies.map(({ result: answer }) => (answer.kind === 'refused' ? answer.code : answer.kind)),
  }
}

await using fabric = await createFabric(location, { log: complainingLog })
const side = new SideRecord<RogueEntry>(sideFile)
const stop = new AbortController()
void untilStopped().then(() => stop.abort())
sayReady()

/** Returns false if the wait was aborted. */
async function wait(ms: number): Promise<boolean> {
  return await sleep(ms, true, { signal: stop.signal }).catch(() => false)
}

async function insistLater(claimed: Claimed): Promise<void> {
  if (await wait(INSIST_AFTER_MS)) side.write(await insist(fabric, claimed))
}

async function release(fabric: Fabric, { executionId, fence }: Claimed): Promise<void> {
  await fabric.batcher.run(executionPartition(0), 'releaseExecution', { executionId, fence, reason: 'seen before' })
}

const insisting = new Set<Promise<void>>()
const claimCounts = new Map<string, number>()
while (await wait(CLAIM_EVERY_MS)) {
  for (const claimed of await claim(fabric)) {
    const claimCount = (claimCounts.get(claimed.executionId) ?? 0) + 1
    claimCounts.set(claimed.executionId, claimCount)
    if (claimCount > INSIST_MAX) {
      await release(fabric, claimed)
      continue
    }
    const later = insistLater(claimed).finally(() => insisting.delete(later))
    insisting.add(later)
  }
}
await Promise.all(insisting)
side.close()
