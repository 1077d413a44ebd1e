/** Durable consumers of events: their processes share the log, and none of its events is lost. */
import { expect, test, vi } from 'vitest'
import { task } from '../../src/client/index.ts'
import type { Consumer } from '../../src/client/consumers/consumer.ts'
import type { ConsumeOptions, ConsumerGap, EventHandler } from '../../src/client/consumers/consumer-options.ts'
import type { ConsumerPosition, RenewConsumerInput } from '../../src/kernel/index.ts'
import { silentLog, sleep } from '../../src/runtime/index.ts'
import { executionPartition } from '../../src/stores/store.ts'
import { STORE_PARTITION, logPartitions } from '../../src/stores/partitions.ts'
import { seededRandom } from '../../src/runtime/seeded-random.fixture.ts'
import { conforms } from './harness.ts'
import { metered } from './metered-store.ts'
import { Working } from './working.ts'

const TTL_MS = 15_000
const CONSUMER_ID = 'default\u001fbilling'
const bill = task<number, number>('bill')
const other = task<number, number>('other')

const renewal: RenewConsumerInput = {
  consumerId: CONSUMER_ID,
  memberId: 'one',
  callNumber: 1,
  ttlMs: TTL_MS,
  filter: {
    types: undefined,
    namespace: undefined,
    task: 'bill',
    lane: undefined,
    tag: undefined,
    storeWide: undefined,
  },
  create: {
    namespace: 'default',
    name: 'billing',
    positions: Array.from({ length: 5 }, () => ({ position: 7, mark: 1 })),
  },
  progress: [],
  release: [],
  isLeaving: false,
  handledCount: 0,
  skippedCount: 0,
  missedCount: 0,
}

conforms('renewConsumer', ({ fabric, clock }) => {
  async function renew(memberId: string, callNumber: number, more: Partial<RenewConsumerInput> = {}) {
    const input = { ...renewal, memberId, callNumber, revision: 1, ...more }
    const answer = await fabric.runIn(STORE_PARTITION, 'renewConsumer', input)
    if (answer.kind === 'refused') throw new Error(answer.code)
    const numbers = answer.owned.map(({ partition }) => partition)
    return { ...answer, numbers }
  }

  async function described() {
    const answer = await fabric.runIn(STORE_PARTITION, 'describeConsumer', { consumerId: CONSUMER_ID })
    if (answer.kind === 'refused') throw new Error(answer.code)
    return answer.consumer
  }

  const at = (partition: number, position: number): ConsumerPosition => ({ partition, position, mark: position })

  test('a partition has one owner, changes it only when released, and free ones go to members with room', async () => {
    expect(await renew('one', 1)).toMatchObject({ numbers: [0, 1, 2, 3, 4], surrender: [] })
    expect(await renew('two', 1)).toMatchObject({ numbers: [], surrender: [] })
    expect(await renew('one', 2)).toMatchObject({ numbers: [0, 1, 2, 3, 4], surrender: [3, 4] })

    const released = await renew('one', 3, { release: [3, 4], progress: [at(3, 9)] })
    expect(released.numbers).toEqual([0, 1, 2])
    expect((await renew('two', 2)).owned).toEqual([at(3, 9), { partition: 4, position: 7, mark: 1 }])

    // The old owner of a partition changes it no more.
    await renew('one', 4, { progress: [at(3, 99), at(0, 8)] })
    expect((await described()).shares.map(({ position }) => position)).toEqual([8, 7, 7, 9, 7])
  })

  test('further partitions follow those that are divided, also while they change their owner', async () => {
    const divided = { dividedCount: 2 }
    expect((await renew('one', 1, divided)).numbers).toEqual([0, 1, 2, 3, 4])
    expect((await renew('two', 1, divided)).numbers).toEqual([])
    expect((await renew('three', 1, divided)).numbers).toEqual([])
    expect((await described()).members).toHaveLength(2)
    expect((await renew('one', 2, divided)).surrender).toEqual([1, 3])

    // The handlers of one partition may return before those of the other.
    expect((await renew('one', 3, { ...divided, release: [1] })).surrender).toEqual([3])
    expect((await renew('two', 2, divided)).numbers).toEqual([1])
    await renew('one', 4, { ...divided, release: [3] })
    expect((await renew('two', 3, divided)).numbers).toEqual([1, 3])
    expect(await renew('one', 5, divided)).toMatchObject({ numbers: [0, 2, 4], surrender: [] })

    await renew('one', 6, { ...divided, isLeaving: true })
    expect((await renew('two', 4, divided)).numbers).toEqual([0, 1, 2, 3, 4])
  })

  test('a member that does not renew loses its partitions once it has expired, and a leaving one at once', async () => {
    await renew('one', 1)
    await renew('two', 1)
    clock.advance(TTL_MS - 1)
    expect((await renew('two', 2)).numbers).toEqual([])
    clock.advance(1)
    expect((await renew('two', 3)).numbers).toEqual([0, 1, 2, 3, 4])
    expect((await renew('one', 2, { progress: [at(0, 50)] })).numbers).toEqual([])

    await renew('two', 4, { isLeaving: true, progress: [at(1, 12)] })
    expect((await renew('one', 3)).owned[1]).toEqual(at(1, 12))
    expect((await described()).members.map(({ id }) => id)).toEqual(['one'])
  })

  test('a repeated call counts once, and progress from before a seek is not stored', async () => {
    await renew('one', 1)
    for (let i = 0; i < 2; i++) await renew('one', 2, { progress: [at(0, 20)], handledCount: 13, missedCount: 2 })
    expect(await described()).toMatchObject({ handledCount: 13, missedCount: 2 })

    const moved = { consumerId: CONSUMER_ID, positions: [at(0, 3)] }
    expect(await fabric.runIn(STORE_PARTITION, 'seekConsumer', moved)).toMatchObject({ revision: 2 })
    expect(await renew('one', 3, { progress: [at(0, 21)] })).toMatchObject({ revision: 2, owned: { 0: at(0, 3) } })
    await renew('one', 4, { progress: [at(0, 4)], revision: 2 })
    expect((await described()).shares[0]).toMatchObject({ position: 4, owner: 'one' })
  })

  test('logs that the store has further are added once, and a seek to all of them adds them too', async () => {
    const added = { from: 5, positions: [{ position: 3 }, { position: 4, mark: 2 }] }
    expect((await renew('one', 1)).logCount).toBe(5)
    expect(await renew('one', 2, { added })).toMatchObject({ logCount: 7, numbers: [0, 1, 2, 3, 4, 5, 6] })
    expect(await renew('one', 3, { added })).toMatchObject({ logCount: 7 })
    expect((await described()).shares.slice(5)).toMatchObject([{ position: 3 }, { position: 4, mark: 2, owner: 'one' }])

    const positions = [at(0, 1), at(7, 2), at(9, 2)]
    await fabric.runIn(STORE_PARTITION, 'seekConsumer', { consumerId: CONSUMER_ID, positions })
    expect((await described()).shares.map(({ position }) => position)).toEqual([1, 7, 7, 7, 7, 3, 4, 2])
  })

  test('there are no more members than partitions, and a failure is shown until the event is handled', async () => {
    for (const member of ['one', 'two', 'three', 'four', 'five', 'six']) await renew(member, 1)
    const failure = { partition: 0, sequence: 8, tryCount: 2, error: 'Error: no' }
    await renew('one', 2, { failure })
    expect(await described()).toMatchObject({ failure, members: { length: 5 } })
    await renew('one', 3, { progress: [at(0, 8)] })
    expect((await described()).failure).toBeUndefined()

    await fabric.runIn(STORE_PARTITION, 'deleteConsumer', { consumerId: CONSUMER_ID })
    await expect(renew('one', 4, { create: undefined })).rejects.toThrow('consumer_not_found')
  })
})

interface Handled {
  readonly executionId: string
  readonly eventId: string
  readonly sequence: number
}

/** What the processes of a consumer have handled, in that order. */
class Journal {
  readonly handled: Handled[] = []
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = []
  /** Which tries fail. */
  fails: (sequence: number, tryCount: number) => boolean = () => false

  /** A process of the consumer. */
  start(working: Working, options: ConsumeOptions = {}): Promise<Consumer> {
    const { client } = working
    const handle: EventHandler = async ({ executionId, sequence }, { eventId, tryCount }) => {
      await client.describe(executionId, {})
      if (this.fails(sequence, tryCount)) throw new Error('not now')
      this.handled.push({ executionId, eventId, sequence })
      for (const { count, resolve } of this.#waiting) if (this.distinct.size >= count) resolve()
    }
    const settings = { ttl: '1s', retryMax: 50, ...options } as const
    const filter = { families: ['executions'], task: 'bill' } as const
    return working.until(client.startConsumer(silentLog, 'billing', filter, handle, settings))
  }

  /** Once so many different events were handled. */
  async until(count: number): Promise<void> {
    if (this.distinct.size >= count) return
    await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }))
  }

  get distinct(): Set<string> {
    return new Set(this.handled.map(({ eventId }) => eventId))
  }

  /** The events of each execution in the order in which they were first handled. */
  orders(): number[][] {
    const orders = new Map<string, number[]>()
    const seen = new Set<string>()
    for (const { eventId, executionId, sequence } of this.handled) {
      if (seen.has(eventId)) continue
      seen.add(eventId)
      orders.set(executionId, [...(orders.get(executionId) ?? []), sequence])
    }
    return [...orders.values()]
  }
}

/** Each has two events for the consumer. */
async function submit(working: Working, count: number) {
  for (let i = 0; i < count; i++) {
    await working.until(working.client.submit(other, i))
    const execution = await working.until(working.client.submit(bill, i))
    await working.until(execution.cancel('enough'))
  }
}

conforms('consumers of events', ({ fabric }) => {
  test('three processes that are killed at random handle every event, those of an execution in order', async () => {
    await using working = new Working(fabric)
    const random = seededRandom(7)
    const journal = new Journal()
    const options = { concurrency: 3, fromStart: true }
    const running: Consumer[] = []
    for (let i = 0; i < 3; i++) running.push(await journal.start(working, options))
    for (let round = 0; round < 6; round++) {
      await submit(working, 3)
      const victim = random.between(0, 2)
      running[victim]!.crash()
      running[victim] = await journal.start(working, options)
      await working.elapse(random.between(0, 300))
    }

    await working.until(journal.until(36))

    const orders = journal.orders()
    expect(orders).toHaveLength(18)
    for (const order of orders) expect(order).toEqual([...order].sort((a, b) => a - b))
    const describe = () => working.until(working.client.consumer('billing').describe())
    // Events that the filter excludes may be the last to be read.
    for (let i = 0; i < 20 && (await describe()).lagCount > 0; i++) await working.elapse(200)
    for (const consumer of running) await working.until(consumer.close())
    // The last one that was killed is a member until its time is over.
    await working.elapse(1_000)
    const description = await describe()
    expect(description).toMatchObject({ lagCount: 0, memberCount: 0, skippedCount: 0, missedCount: 0 })
  })

  test('one that is idle reads the logs rarely, and handles an event without waiting for its next look', async () => {
    const { meter, proxy } = metered(fabric.store)
    await using working = new Working(fabric, {}, proxy)
    const journal = new Journal()
    const consumer = await journal.start(working, { ttl: '1m' })
    const { store } = fabric
    const isQuiet = () =>
      logPartitions(store.settings).every((partition) => (store.eventSweepMs?.(partition) ?? 0) > 5_000)
    if (store.eventSweepMs !== undefined) await vi.waitUntil(isQuiet, { timeout: 30_000, interval: 5 })
    await working.elapse(1_000)
    // A server may answer the last look late.
    await vi.waitUntil(() => meter.inFlight === 0, { timeout: 30_000, interval: 5 })
    meter.reads = 0
    for (let i = 0; i < 5; i++) {
      await fabric.runtime.advance(1_000)
      await working.elapse(10)
    }
    if (store.eventSweepMs !== undefined) expect(meter.reads).toBe(0)

    const before = fabric.runtime.now()
    await submit(working, 1)
    await working.until(journal.until(2))
    expect(fabric.runtime.now() - before).toBeLessThan(1_000)
    await working.until(consumer.close())
  })

  test('a failing event is retried before later ones of its execution, given up after its last try, and stays visible', async () => {
    await using working = new Working(fabric)
    const journal = new Journal()
    const consumer = await journal.start(working, { attempts: 3 })
    let poisoned: number | undefined
    journal.fails = (sequence, tryCount) => (poisoned ??= sequence) === sequence && tryCount <= 5
    await submit(working, 1)
    await working.until(journal.until(1))
    await working.until(consumer.close())
    const [summary] = await working.until(working.client.consumers())
    expect(summary).toMatchObject({
      name: 'billing',
      handledCount: 1,
      skippedCount: 1,
      failure: undefined,
      lagCount: 0,
    })

    // Without a bound the event holds up its execution until it succeeds.
    poisoned = undefined
    const again = await journal.start(working)
    await submit(working, 1)
    await working.until(journal.until(3))
    expect(journal.orders().at(-1)).toHaveLength(2)
    await working.until(again.close())
    expect(await working.until(working.client.consumer('billing').describe())).toMatchObject({ handledCount: 3 })
  })

  test('a closing process stays a member until its handlers have returned', async () => {
    await using working = new Working(fabric)
    const { client } = working
    const started = Promise.withResolvers<undefined>()
    const wasAborted: boolean[] = []
    const handle: EventHandler = async (_event, { signal }) => {
      started.resolve(undefined)
      await sleep(fabric.runtime, 1_500)
      wasAborted.push(signal.aborted)
    }
    const filter = { types: ['execution_created'], task: 'bill' } as const
    const consumer = await working.until(client.startConsumer(silentLog, 'billing', filter, handle, { ttl: '1s' }))
    await working.until(client.submit(bill, 1))
    await working.until(started.promise)
    await working.until(consumer.close())

    expect(wasAborted).toEqual([false])
    const description = await working.until(client.consumer('billing').describe())
    expect(description).toMatchObject({ handledCount: 1, lagCount: 0, memberCount: 0 })
  })

  test('a consumer continues where it stopped, reports what was trimmed, and is moved by operators', async () => {
    await using working = new Working(fabric)
    const journal = new Journal()
    const { client } = working
    await working.until((await journal.start(working)).close())
    await submit(working, 2)
    expect(await working.until(client.consumer('billing').describe())).toMatchObject({ lagCount: 6 })

    const gaps: ConsumerGap[] = []
    const onGap = (gap: ConsumerGap) => gaps.push(gap)
    const partitions = Array.from({ length: fabric.store.settings.executionPartitions }, (_, i) => i)
    const before = await Promise.all(partitions.map((i) => fabric.store.readEvents(executionPartition(i), 0, 1)))
    for (const i of partitions) await fabric.store.trimEvents(executionPartition(i), 0, 1)
    const after = await Promise.all(partitions.map((i) => fabric.store.readEvents(executionPartition(i), 0, 1)))
    const trimmed = after.reduce((sum, page, i) => sum + page.firstSequence - before[i]!.firstSequence, 0)
    const second = await journal.start(working, { onGap })
    await submit(working, 1)
    await working.until(journal.until(2))
    await working.until(second.close())
    expect(gaps.reduce((sum, gap) => sum + (gap.kind === 'trimmed' ? gap.missed : 0), 0)).toBe(trimmed)
    expect(await working.until(client.consumer('billing').describe())).toMatchObject({ missedCount: trimmed })

    const count = journal.handled.length
    const third = await journal.start(working)
    await working.until(client.consumer('billing').seek({ fromStart: true }))
    await working.elapse(1_000)
    expect(journal.handled.length).toBeGreaterThan(count)
    await working.until(client.consumer('billing').delete())
    await working.until(third.closed)
    await expect(working.until(client.consumer('billing').describe())).rejects.toThrow('consumer')
  })
})

conforms('subscriptions', ({ fabric }) => {
  test('one that is restarted 100 times at random under load sees every event, and repeats only what followed its saved cursor', async () => {
    await using working = new Working(fabric)
    const { client } = working
    const random = seededRandom(11)
    const types = ['execution_created', 'execution_ended'] as const
    const seen: string[] = []
    let saved = await working.until(client.currentCursor())
    let savedCount = 0
    let submitted = 0
    for (let restart = 0; restart < 100; restart++) {
      if (restart < 40) {
        const execution = await working.until(client.submit(bill, submitted++))
        await working.until(execution.cancel('enough'))
      }
      // What is not saved comes again.
      seen.splice(savedCount)
      const items = client.subscribe({ types, task: 'bill', cursor: saved, follow: false })
      const readCount = random.between(0, 4)
      for (let i = 0; i < readCount; i++) {
        const { value: item } = await working.until(items.next())
        if (item?.kind !== 'event') break
        const id = `${item.event.executionId} ${item.event.sequence}`
        expect(seen).not.toContain(id)
        seen.push(id)
        if (random.between(0, 1) === 0) continue
        saved = item.cursor
        savedCount = seen.length
      }
      await working.until(items.return())
    }

    seen.splice(savedCount)
    for await (const item of client.subscribe({ types, task: 'bill', cursor: saved, follow: false })) {
      if (item.kind === 'event') seen.push(`${item.event.executionId} ${item.event.sequence}`)
    }
    expect(new Set(seen).size).toBe(80)
    expect(seen).toHaveLength(80)
  })
})
