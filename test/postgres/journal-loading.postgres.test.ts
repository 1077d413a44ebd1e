/** What executions remember, loaded from the tables: the same records and bytes as were kept, page by page. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { SIGNAL_PAYLOAD_BYTES, STEP_PAGE_MAX, STEP_VALUE_BYTES } from '../../src/kernel/index.ts'
import type { ExecutionId, IndexProblem, ReconcileCursor } from '../../src/kernel/index.ts'
import {
  PARTITION,
  call,
  claim,
  problemsOf,
  run,
  signalTo,
  stepOf,
  submit,
  waitAt,
} from '../../src/stores/store.fixture.ts'
import type { Holder } from '../../src/stores/store.fixture.ts'
import { virtualRuntime } from '../../src/runtime/index.ts'
import type { Call, Store } from '../../src/stores/store.ts'
import { versions } from './places.ts'
import { newStore } from './store-place.ts'

/** Less than the work of one batch, whatever they do. */
const AT_ONCE = 40
const RETENTION_MS = 1_000

async function givenHolder(store: Store): Promise<Holder> {
  await submit(store, { retentionMs: RETENTION_MS })
  const { executions } = await run(store, 'claimForWorker', claim())
  return executions[0]!
}

/** Bytes that identify their step. */
function valueOf(number: number, size: number): Uint8Array {
  return new Uint8Array(size).fill(number % 256)
}

/** Comparing large values byte by byte would take a test its time. */
function fingerprint(bytes: Uint8Array): string {
  return `${bytes.byteLength} ${createHash('sha256').update(bytes).digest('hex')}`
}

async function recordSteps(store: Store, held: Holder, sizes: readonly number[]): Promise<void> {
  const calls = sizes.map((size, i) => {
    const value = { blob: 0, size, encoding: 'bytes' as const }
    return call('recordStep', stepOf(held, `step ${i}`, { outcome: { kind: 'completed', value } }), valueOf(i, size))
  })
  await runAll(store, calls)
}

async function runAll(store: Store, calls: readonly Call[]): Promise<void> {
  for (let done = 0; done < calls.length; done += AT_ONCE) await store.run(PARTITION, calls.slice(done, done + AT_ONCE))
}

/** Every step with its value, and how many readings that took. */
async function readAll(store: Store, executionId: ExecutionId): Promise<{ values: Uint8Array[]; pageCount: number }> {
  const values: Uint8Array[] = []
  let pageCount = 0
  let from: number | undefined = 0
  while (from !== undefined) {
    const [answer] = await store.run(PARTITION, [call('readSteps', { executionId, from, values: true })])
    if (answer?.kind !== 'answered' || answer.result.kind !== 'steps') throw new Error('It was not read.')
    for (const { valueBlob } of answer.result.steps) values.push(answer.blobs[valueBlob!]!)
    from = answer.result.next
    pageCount += 1
  }
  return { values, pageCount }
}

async function reconcile(store: Store): Promise<IndexProblem[]> {
  const repaired: IndexProblem[] = []
  let cursor: ReconcileCursor | undefined
  do {
    const step = await run(store, 'reconcileIndexes', { cursor })
    repaired.push(...step.repaired)
    cursor = step.cursor
  } while (cursor !== undefined)
  return repaired
}

describe.each(versions)('a journal on %s', (version) => {
  test.each([
    ['small ones in one reading', [0, 1, 100, 10_000], 1],
    ['large ones in as many readings as they need', Array<number>(5).fill(STEP_VALUE_BYTES), 3],
    ['more than one page returns', Array<number>(STEP_PAGE_MAX + 5).fill(10), 2],
  ])('gives back the values of steps, %s', async (_, sizes, pageCount) => {
    const { store } = await newStore(version)
    const held = await givenHolder(store)
    await recordSteps(store, held, sizes)

    const read = await readAll(store, held.executionId)

    expect(read.pageCount).toBe(pageCount)
    expect(read.values.map(fingerprint)).toEqual(sizes.map((size, i) => fingerprint(valueOf(i, size))))
  })

  test('gives back signals with their payloads, and meets a condition with those that came early', async () => {
    const { store } = await newStore(version)
    const held = await givenHolder(store)
    const { executionId } = held
    for (const [i, target] of ['@a', '@b', '@a'].entries()) {
      const payload = { blob: 0, size: SIGNAL_PAYLOAD_BYTES, encoding: 'bytes' as const }
      const signal = signalTo(executionId, target, { key: `k${i}`, payload })
      await run(store, 'deliverSignal', signal, valueOf(i, SIGNAL_PAYLOAD_BYTES))
    }

    const [answer] = await store.run(PARTITION, [call('readSignals', { executionId, payloads: true })])
    const waited = await run(store, 'suspendExecution', waitAt(held, '@a'))

    expect(answer).toMatchObject({ result: { signals: [0, 1, 2].map((i) => ({ signal: { key: `k${i}` } })) } })
    expect(answer?.kind === 'answered' ? answer.blobs.map(fingerprint) : []).toEqual(
      [0, 1, 2].map((i) => fingerprint(valueOf(i, SIGNAL_PAYLOAD_BYTES))),
    )
    expect(waited).toMatchObject({ kind: 'answered', step: { wait: { satisfiers: [1] } } })
  })

  test('agrees with its indexes, and leaves nothing when its execution is removed', async () => {
    const runtime = virtualRuntime()
    const { store, query } = await newStore(version, 'partitions=1', { runtime, clock: 'runtime' })
    const held = await givenHolder(store)
    const { executionId } = held
    await recordSteps(store, held, Array<number>(60).fill(10))
    const boxes = Array.from({ length: 60 }, (_, i) => call('deliverSignal', signalTo(executionId, `@box ${i}`)))
    await runAll(store, boxes)
    await run(store, 'suspendExecution', waitAt(held, 'answer'))

    expect(problemsOf(await store.dump(PARTITION))).toEqual([])
    expect(await reconcile(store)).toEqual([])
    await query(`delete from entry where name like 'inbox%'`)
    expect(await reconcile(store)).toHaveLength(boxes.length)
    expect(problemsOf(await store.dump(PARTITION))).toEqual([])

    await run(store, 'cancelExecution', { executionId, reason: '', by: 'me', force: true, graceMs: 0 })
    runtime.jump(RETENTION_MS)
    let callCount = 0
    while ((await run(store, 'purgeExecutions', {})).purged.length === 0) callCount += 1
    const { records, entries, blobKeys } = await store.dump(PARTITION)
    expect(callCount).toBeGreaterThan(0)
    expect([records, entries, blobKeys]).toEqual([[], [], []])
  })
})
