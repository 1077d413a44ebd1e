/** Calls as large as the limits of the kernel allow, on one partition. What a case prepares is not measured. */
import { setTimeout as sleep } from 'node:timers/promises'
import { task } from '../../src/client/index.ts'
import {
  BATCH_BYTES,
  BATCH_OPERATION_LIMIT,
  BATCH_WORK_LIMIT,
  CLAIM_COUNT_MAX,
  CLAIM_PAYLOAD_BYTES,
  DUE_SCAN_COUNT,
  INDEXED_TAG_COUNT_MAX,
  LIST_PAGE_MAX,
  PAYLOAD_BYTES,
  PURGE_COUNT_MAX,
  STEP_PAGE_BYTES,
  STEP_PAGE_MAX,
  TAG_COUNT_MAX,
  TAG_VALUE_BYTES,
} from '../../src/kernel/index.ts'
import type { Claimed } from '../../src/kernel/index.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { claimByHand, completeByHand } from '../by-hand.ts'
import { fan, pieceHandler } from '../fanout/fan-flow.ts'
import { CONCURRENCY } from '../stages.ts'
import { LANE } from '../workload.ts'

export interface LimitCase {
  /** Ends the names of its metrics. */
  readonly name: string
  /** Returns what is measured. */
  readonly prepare: (fabric: Fabric) => Promise<() => Promise<unknown>>
}

const PARTITION = executionPartition(0)
/** What the batcher takes the arguments of one operation for, with room for the quotes of a JSON text. */
const ARGUMENT_BYTES = 520
const BATCH_ITEM_BYTES = Math.floor(BATCH_BYTES / BATCH_OPERATION_LIMIT) - ARGUMENT_BYTES
/** Claims of one call that together put as many records as a call may. */
const CLAIMS = Math.floor(BATCH_WORK_LIMIT / CLAIM_COUNT_MAX)
const LEASE_MS = 600_000
const SHORT_MS = 50
const STEPS = 2 * STEP_PAGE_MAX
const FLOW_WIDTH = 1_000

/** Names of the tags that every store of this scenario indexes. */
export const indexedTags: readonly string[] = tagNames().slice(0, INDEXED_TAG_COUNT_MAX)

const plain = task<string, string>('bench.limit', { lane: LANE })
const brief = task<string, string>('bench.brief', { lane: LANE, retention: 1 })
const stepped = task<string, number>('bench.stepped', {
  lane: LANE,
  retry: { attempts: 2, backoff: { kind: 'fixed', delay: 1 } },
})

const steppedHandler = stepped.handle(async (value, ctx) => {
  for (let number = 0; number < STEPS; number++) await ctx.step('walk', () => value)
  if (ctx.attempt === 1) throw new Error('The second attempt reads the journal.')
  return STEPS
})

export const limitCases: readonly LimitCase[] = [
  {
    name: 'submit',
    prepare: async (fabric) => () => submitMany(fabric, BATCH_OPERATION_LIMIT, BATCH_ITEM_BYTES),
  },
  {
    name: 'claim',
    prepare: async (fabric) => {
      const bytes = Math.floor(CLAIM_PAYLOAD_BYTES / (CLAIMS * CLAIM_COUNT_MAX))
      await submitMany(fabric, CLAIMS * CLAIM_COUNT_MAX, bytes)
      return () => Promise.all(Array.from({ length: CLAIMS }, () => claim(fabric, plain.name, CLAIM_COUNT_MAX)))
    },
  },
  {
    name: 'complete',
    prepare: async (fabric) => {
      const held = await hold(fabric, BATCH_OPERATION_LIMIT, BATCH_ITEM_BYTES)
      return () => completeAll(fabric, held, BATCH_ITEM_BYTES)
    },
  },
  {
    name: 'payload',
    prepare: async (fabric) => async () => {
      // Two bytes are the quotes of the text.
      await completeAll(fabric, await hold(fabric, 1, PAYLOAD_BYTES - 2), PAYLOAD_BYTES - 2)
    },
  },
  {
    name: 'due',
    prepare: async (fabric) => {
      const texts = Array.from({ length: DUE_SCAN_COUNT }, () => fabric.submit(plain, '', { delay: SHORT_MS, tags }))
      await Promise.all(texts)
      await sleep(2 * SHORT_MS)
      return () => fabric.batcher.run(PARTITION, 'runDue', { limit: DUE_SCAN_COUNT, seed: 1 })
    },
  },
  {
    name: 'list',
    prepare: async (fabric) => {
      await submitMany(fabric, LIST_PAGE_MAX, 1)
      return async () => {
        await fabric.list({ limit: LIST_PAGE_MAX })
        await fabric.lanes(LANE)
      }
    },
  },
  {
    name: 'purge',
    prepare: async (fabric) => {
      await Promise.all(Array.from({ length: PURGE_COUNT_MAX }, () => fabric.submit(brief, '', { tags })))
      const held = await claim(fabric, brief.name, PURGE_COUNT_MAX)
      await completeAll(fabric, held, 1)
      await sleep(SHORT_MS)
      return () => fabric.batcher.run(PARTITION, 'purgeExecutions', {})
    },
  },
  {
    name: 'steps',
    prepare: async (fabric) => async () => {
      await using _worker = await fabric.work([steppedHandler], { concurrency: 1 })
      await (await fabric.submit(stepped, text(Math.floor(STEP_PAGE_BYTES / STEP_PAGE_MAX) - 2))).result()
    },
  },
  {
    name: 'flow',
    prepare: async (fabric) => async () => {
      await using _worker = await fabric.work([pieceHandler], { concurrency: CONCURRENCY, prefetch: CLAIM_COUNT_MAX })
      await (await fabric.submit(fan, { width: FLOW_WIDTH })).result()
    },
  },
]

const tags: Readonly<Record<string, string>> = Object.fromEntries(
  tagNames().map((name) => [name, text(TAG_VALUE_BYTES)]),
)

function tagNames(): string[] {
  return Array.from({ length: TAG_COUNT_MAX }, (_, i) => `tag${i}`)
}

function text(bytes: number): string {
  return 'x'.repeat(bytes)
}

/** In one turn, so that as many as fit travel in one batch. */
async function submitMany(fabric: Fabric, count: number, bytes: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => fabric.submit(plain, text(bytes), { tags })))
}

function claim(fabric: Fabric, name: string, count: number): Promise<Claimed[]> {
  return claimByHand(fabric, PARTITION, { task: name, count, leaseTtlMs: LEASE_MS })
}

async function hold(fabric: Fabric, count: number, bytes: number): Promise<Claimed[]> {
  await submitMany(fabric, count, bytes)
  return await claim(fabric, plain.name, count)
}

async function completeAll(fabric: Fabric, held: readonly Claimed[], bytes: number): Promise<void> {
  if (held.length === 0) throw new Error('There is nothing to complete.')
  await Promise.all(held.map((claimed) => completeByHand(fabric, claimed, text(bytes))))
}
