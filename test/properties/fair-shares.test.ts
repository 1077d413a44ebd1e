/** Fairness between many tenants with unequal backlogs: each gets its share, and none waits behind the longest. */
import { expect, test } from 'vitest'
import { Client } from '../../src/client/client.ts'
import { task } from '../../src/client/index.ts'
import { CLAIM_COUNT_MAX, fairClass } from '../../src/kernel/index.ts'
import { systemRuntime } from '../../src/runtime/index.ts'
import { MemoryStore } from '../../src/stores/memory/memory-store.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { Clock } from '../conformance/clock.ts'
import { TestFabric } from '../conformance/fabric.ts'
import { CLASS, Given, LANE } from '../conformance/given.ts'
import { memory } from '../conformance/targets.ts'

const isFull = process.env['FLOWFABRIC_TEST_FULL'] !== undefined
const TENANTS = 1_000
/** In the short run, each tenant gets a whole number of turns. */
const CLAIMS = isFull ? 100_000 : 19_990
const BACKLOG = isFull ? 200_000 : 5_000
/** A share may differ by so much, and by one turn. */
const TOLERANCE = 0.05
/** The same over the partitions of a store, where a tenant gets about as much as in one partition. */
const PARTITION_COUNT = 8
const SPREAD_TENANTS = isFull ? 1_000 : 100
const SPREAD_CLAIMS = 100 * SPREAD_TENANTS
const SPREAD_TOLERANCE = 0.1
/** A few tenants have far more than they get; all have enough for the whole test. */
const surplusOf = (tenant: number, least: number) => (tenant % 50 === 0 ? 5 : least)
const SURPLUS = 1.2
/** A worker may prefer some partitions for a moment, which in a short run is long enough to start more there than elsewhere. */
const SPREAD_SURPLUS = 3
const ARRIVAL_CLAIMS = 50
const FULL_TIMEOUT_MS = 1_800_000

const queues = [{ lane: LANE, class: fairClass(CLASS) }]
const weightOf = (tenant: number) => 1 + (tenant % 3)

class Lane {
  readonly #fabric: TestFabric
  readonly #given: Given

  constructor(fabric: TestFabric) {
    this.#fabric = fabric
    this.#given = new Given(fabric, new Clock(fabric))
  }

  async submit(key: string, weight: number, count: number): Promise<void> {
    const tags = [{ name: 'key', value: key, indexed: false }]
    const draft = { class: fairClass(CLASS), fairness: { key, weight }, key: undefined, tags }
    for (let left = count; left > 0; left -= 500) await this.#given.executions(Math.min(left, 500), () => draft)
  }

  /** Claims so many, and returns the keys in their order. */
  async claim(count: number): Promise<string[]> {
    const keys: string[] = []
    while (keys.length < count) {
      const { executions } = await this.#given.claim({ queues, count: Math.min(CLAIM_COUNT_MAX, count - keys.length) })
      expect(executions.length, 'the backlog is not at its end').toBeGreaterThan(0)
      keys.push(...executions.map(({ tags }) => tags[0]?.value ?? ''))
    }
    return keys
  }

  close(): Promise<void> {
    return this.#fabric.close()
  }
}

async function openLane(): Promise<Lane> {
  const fabric = new TestFabric(memory)
  await fabric.open()
  return new Lane(fabric)
}

test(
  'tenants with unequal backlogs get the shares of their weights',
  async () => {
    const lane = await openLane()
    const tenants = Array.from({ length: TENANTS }, (_, tenant) => tenant)
    const unit = CLAIMS / tenants.reduce((sum, tenant) => sum + weightOf(tenant), 0)
    for (const tenant of tenants) {
      await lane.submit(`t${tenant}`, weightOf(tenant), Math.ceil(unit * weightOf(tenant) * surplusOf(tenant, SURPLUS)))
    }

    const counts = new Map<string, number>()
    for (const key of await lane.claim(CLAIMS)) counts.set(key, (counts.get(key) ?? 0) + 1)

    const unfair = tenants.filter((tenant) => {
      const share = unit * weightOf(tenant)
      return Math.abs((counts.get(`t${tenant}`) ?? 0) - share) > Math.max(1, TOLERANCE * share)
    })
    expect(unfair).toEqual([])
    await lane.close()
  },
  isFull ? FULL_TIMEOUT_MS : undefined,
)

test(
  'the shares hold over the partitions of a store, however the tenants are mixed',
  async () => {
    const store = new MemoryStore(systemRuntime(), { executionPartitions: PARTITION_COUNT, indexedTags: [] })
    const client = new Client(store, systemRuntime())
    const work = task<{ tenant: number }>('work', {
      lane: LANE,
      fairness: ({ tenant }) => ({ key: `t${tenant}`, weight: weightOf(tenant) }),
    })
    const tenants = Array.from({ length: SPREAD_TENANTS }, (_, tenant) => tenant)
    const unit = SPREAD_CLAIMS / tenants.reduce((sum, tenant) => sum + weightOf(tenant), 0)
    // The tenants submit one after the other, until each has its backlog.
    for (let sent = 0, isLeft = true; isLeft; sent++) {
      const left = tenants.filter((tenant) => sent < unit * weightOf(tenant) * surplusOf(tenant, SPREAD_SURPLUS))
      await Promise.all(left.map((tenant) => client.submit(work, { tenant })))
      isLeft = left.length > 0
    }

    const counts = tenants.map(() => 0)
    const finished = Promise.withResolvers<undefined>()
    let started = 0
    const handler = work.handle(({ tenant }) => {
      if (started++ < SPREAD_CLAIMS) counts[tenant]! += 1
      else finished.resolve(undefined)
    })
    const worker = startWorker(client, [handler], { workerId: 'w', concurrency: 16, prefetch: 0 })
    await finished.promise
    worker.crash()
    await client.batcher.close()

    const unfair = tenants.filter((tenant) => {
      const share = unit * weightOf(tenant)
      return Math.abs(counts[tenant]! - share) > SPREAD_TOLERANCE * share
    })
    expect(unfair).toEqual([])
  },
  isFull ? FULL_TIMEOUT_MS : undefined,
)

test(
  'a tenant that arrives behind the backlog of another starts soon',
  async () => {
    const lane = await openLane()
    await lane.submit('large', 1, BACKLOG)
    await lane.claim(BACKLOG / 2)
    await lane.submit('late', 1, 1)

    expect(await lane.claim(ARRIVAL_CLAIMS)).toContain('late')
    await lane.close()
  },
  isFull ? FULL_TIMEOUT_MS : undefined,
)
