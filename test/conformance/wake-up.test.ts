import { beforeEach, expect, test } from 'vitest'
import { readyIndex } from '../../src/kernel/index.ts'
import type { Wake } from '../../src/stores/store.ts'
import { CLASS, LANE, LEASE_TTL_MS, politeCancel } from './given.ts'
import type { Bench } from './harness.ts'
import { conformsOnServers } from './harness.ts'

const READY = readyIndex(LANE, CLASS)

/** The wake-ups of the partition that a listener receives during an action. A server records what operators do in another one. */
async function heard({ fabric }: Bench, work: () => Promise<unknown>): Promise<Wake[]> {
  const wakes: Wake[] = []
  const stop = fabric.store.onWake((wake) => {
    if (wake.partition === fabric.partition) wakes.push(wake)
  })
  try {
    await work()
  } finally {
    stop()
  }
  return wakes
}

conformsOnServers('a wake-up', (bench) => {
  const { fabric, given, clock } = bench

  beforeEach(() => fabric.untilListening())

  test('names the queue that gained work', async () => {
    expect(await heard(bench, () => given.eligibleExecution())).toMatchObject([
      { partition: fabric.partition, ready: [READY], hasEvents: true },
    ])
  })

  test('carries the earliest timer that was set', async () => {
    const wakes = await heard(bench, () => given.delayedExecution({ delayMs: 5_000, totalTimeoutMs: 60_000 }))

    expect(wakes).toMatchObject([{ ready: [], dueAt: clock.now() + 5_000 }])
  })

  test('carries the end of a lease, which is a timer too', async () => {
    await given.eligibleExecution()

    expect(await heard(bench, () => given.claim())).toMatchObject([
      { dueAt: clock.now() + LEASE_TTL_MS, hasEvents: true },
    ])
  })

  test('names the execution whose holder has a request waiting', async () => {
    const { executionId } = await given.activeExecution()

    const wakes = await heard(bench, () => fabric.run('cancelExecution', { executionId, ...politeCancel }))

    expect(wakes).toMatchObject([{ holdersOf: [executionId] }])
  })

  test('carries the growth of the log and what has ended, or leaves both to the log', async () => {
    const held = await given.activeExecution()
    const { lastSequence } = await fabric.store.readEvents(fabric.partition, Number.MAX_SAFE_INTEGER, 1)

    const [wake] = await heard(bench, () => fabric.run('completeExecution', held))

    const number = lastSequence + 1
    const growth = { first: number, last: number, at: clock.now(), ended: [held.executionId] }
    expect([growth, undefined]).toContainEqual(wake?.growth)
  })

  test('comes when an execution goes back to its queue', async () => {
    const held = await given.activeExecution()

    expect(await heard(bench, () => fabric.run('releaseExecution', { ...held, reason: 'shutdown' }))).toMatchObject([
      { ready: [READY] },
    ])
  })

  test('does not come for a read or a refusal', async () => {
    const held = await given.endedExecution('completed')

    const wakes = await heard(bench, async () => {
      await fabric.look(held.executionId)
      await given.claim()
      await fabric.run('failExecution', { ...held, failure: { category: 'x', message: 'x' }, seed: 1 })
    })

    expect(wakes).toEqual([])
  })

  test('comes after the change: a reader that looks at once sees it', async () => {
    const looks: Promise<unknown>[] = []
    const stop = fabric.store.onWake(() => {
      stop()
      looks.push(given.claim())
    })
    await given.eligibleExecution()

    expect(await Promise.all(looks)).toMatchObject([{ executions: { length: 1 } }])
  })

  test('does not come to a listener that has stopped', async () => {
    const wakes: Wake[] = []
    fabric.store.onWake((wake) => wakes.push(wake))()
    await given.eligibleExecution()

    expect(wakes).toEqual([])
  })
})
