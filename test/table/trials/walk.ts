/**
 * A long random life of one small partition: every operation, in any order, with fences right and wrong, as time goes by.
 * The same seed takes the same walk.
 */
import {
  cancelExecution,
  changePriority,
  claimForWorker,
  completeExecution,
  countExecutions,
  createExecution,
  delayExecution,
  describeExecution,
  explainExecution,
  failExecution,
  inspectPartition,
  listExecutions,
  nextSeed,
  publicStates,
  purgeExecutions,
  reconcileIndexes,
  releaseExecution,
  renewLease,
  replayExecution,
  revokeLease,
  runDue,
  setTags,
  updateProgress,
} from '../../../src/kernel/index.ts'
import type {
  ClaimInput,
  ClaimResult,
  CreateInput,
  ExecutionId,
  Fence,
  Position,
  ReconcileCursor,
  RetryPolicy,
  Tag,
  Tx,
} from '../../../src/kernel/index.ts'
import { canonicalText } from './canonical-text.ts'
import { newWorld, say } from './world.ts'
import type { World } from './world.ts'

const EXECUTION_COUNT = 12
const lanes: readonly string[] = ['main', 'main two', 'side']
const classes: readonly string[] = ['', 'gpu']
const tagNames: readonly string[] = ['plan', 'Plan', 'team', 'a.b', 'z-1', 'z_1']
const waitsMs: readonly number[] = [0, 1, 40, 700, 5_000, 40_000, 400_000]
/** Time mostly stands nearly still, so that leases live to be used. */
const stepsMs: readonly number[] = [0, 0, 0, 1, 1, 40, 300, 700, 5_000, 60_000]
const categories: readonly string[] = ['error', 'timeout', 'permanent', 'rate']

interface Grasp {
  readonly executionId: ExecutionId
  readonly fence: Fence
}

export interface Walk {
  readonly world: World
  seed: number
  requests: number
  /** Everything that was ever handed out, so that fences of the past are tried again. */
  readonly grasps: Grasp[]
  listCursor: Position | undefined
  reconcileCursor: ReconcileCursor | undefined
}

export function newWalk(seed: number): Walk {
  const world = newWorld()
  return { world, seed, requests: 0, grasps: [], listCursor: undefined, reconcileCursor: undefined }
}

/** A whole number from 0 up to, not including, the count. */
function draw(walk: Walk, count: number): number {
  walk.seed = nextSeed(walk.seed)
  return walk.seed % count
}

function oneOf<T extends string | number>(walk: Walk, list: readonly T[], otherwise: T): T {
  return list[draw(walk, list.length)] ?? otherwise
}

/** One of few request ids, so that some calls repeat an earlier one. */
function request(walk: Walk): string {
  if (draw(walk, 4) > 0) walk.requests = walk.requests + 1
  return 'request-' + String(walk.requests)
}

function anId(walk: Walk): ExecutionId {
  return ('0-' + String(draw(walk, EXECUTION_COUNT))) as ExecutionId
}

function aGrasp(walk: Walk): Grasp {
  // Mostly a recent one: those are still worth something.
  const back = draw(walk, 3) > 0 ? draw(walk, 4) : draw(walk, 40)
  const known = walk.grasps[Math.max(0, walk.grasps.length - 1 - back)]
  return known ?? { executionId: anId(walk), fence: { leaseId: 'none', epoch: 1, attempt: 1 } }
}

function someTags(walk: Walk): Tag[] {
  const tags: Tag[] = []
  for (let i = draw(walk, 4); i > 0; i--) {
    const name = oneOf(walk, tagNames, 'plan')
    tags.push({ name, value: 'v' + String(draw(walk, 2)), indexed: name === 'plan' || name === 'team' })
  }
  return tags
}

function aRetryPolicy(walk: Walk): RetryPolicy {
  return {
    attempts: 1 + draw(walk, 5),
    backoff:
      draw(walk, 2) === 0
        ? { kind: 'fixed', delayMs: oneOf(walk, waitsMs, 0) }
        : { kind: 'exponential', initialMs: 100, maxMs: 60_000, factor: 3 },
    jitter: draw(walk, 2) === 0,
    onlyCategories: draw(walk, 4) === 0 ? ['rate', 'timeout'] : [],
  }
}

function aSubmit(walk: Walk): CreateInput {
  const ways: readonly ('join' | 'reject' | 'replace')[] = ['join', 'reject', 'replace']
  const id = anId(walk)
  return {
    executionId: id,
    key: draw(walk, 2) === 0 ? 'key:' + id : undefined,
    requestId: request(walk),
    namespace: 'default',
    task: 'report',
    lane: oneOf(walk, lanes, 'main'),
    class: oneOf(walk, classes, ''),
    priority: oneOf(walk, [0, 1, 9_000], 0),
    tags: someTags(walk),
    retry: aRetryPolicy(walk),
    delayMs: draw(walk, 3) === 0 ? oneOf(walk, waitsMs, 0) : undefined,
    attemptTimeoutMs: draw(walk, 3) === 0 ? 30_000 : undefined,
    totalTimeoutMs: draw(walk, 4) === 0 ? 300_000 : undefined,
    retentionMs: 500_000,
    payload: draw(walk, 2) === 0 ? { blob: 0, size: 400_000, encoding: 'bytes' } : undefined,
    ifExists: oneOf(walk, ways, 'join'),
  }
}

function aClaim(walk: Walk): ClaimInput {
  const queues: { lane: string; class: string }[] = []
  for (let i = 1 + draw(walk, 4); i > 0; i--) {
    queues.push({ lane: oneOf(walk, lanes, 'main'), class: oneOf(walk, classes, '') })
  }
  return {
    requestId: request(walk),
    workerId: 'pool',
    workerInstanceId: 'pool-' + String(draw(walk, 2)),
    queues,
    count: 1 + draw(walk, 4),
    leaseTtlMs: oneOf(walk, [1_000, 30_000, 60_000], 30_000),
    repeated: draw(walk, 3) === 0,
    seed: 1 + draw(walk, 1_000_000),
  }
}

function remember(walk: Walk, claimed: ClaimResult | undefined): void {
  for (const one of claimed?.executions ?? []) walk.grasps.push({ executionId: one.executionId, fence: one.fence })
}

function holderStep(walk: Walk, tx: Tx): unknown {
  const { executionId, fence } = aGrasp(walk)
  switch (draw(walk, 7)) {
    case 0:
      return renewLease(tx, { executionId, fence, leaseTtlMs: 30_000 })
    case 1: {
      const next = draw(walk, 2) === 0 ? aClaim(walk) : undefined
      const result = draw(walk, 2) === 0 ? { blob: 0, size: 4, encoding: 'json' as const } : undefined
      const completed = completeExecution(tx, { executionId, fence, result, next })
      if (completed.kind !== 'refused') remember(walk, completed.next)
      return completed
    }
    case 2: {
      const failure = { category: oneOf(walk, categories, 'error'), message: 'no luck' }
      const retryAfterMs = draw(walk, 4) === 0 ? oneOf(walk, waitsMs, 0) : undefined
      return failExecution(tx, { executionId, fence, failure, retryAfterMs, seed: 1 + draw(walk, 1_000_000) })
    }
    case 3:
      return releaseExecution(tx, { executionId, fence, reason: 'shutdown' })
    case 4:
      return delayExecution(tx, { executionId, fence, delayMs: oneOf(walk, waitsMs, 0) })
    case 5:
      return updateProgress(tx, { executionId, fence, percent: draw(walk, 2) === 0 ? draw(walk, 101) : undefined })
    default:
      return cancelExecution(tx, { executionId, fence, reason: 'gave up', by: 'pool', force: false, graceMs: 5_000 })
  }
}

function callerStep(walk: Walk, tx: Tx): unknown {
  const executionId = anId(walk)
  switch (draw(walk, 6)) {
    case 0:
      return cancelExecution(tx, { executionId, reason: 'no', by: 'ada', force: draw(walk, 3) === 0, graceMs: 5_000 })
    case 1:
      return revokeLease(tx, { executionId, reason: 'stuck', by: 'ada' })
    case 2:
      return changePriority(tx, { executionId, priority: oneOf(walk, [0, 1, 9_000], 0) })
    case 3:
      return setTags(tx, { executionId, set: someTags(walk), remove: [oneOf(walk, tagNames, 'plan')] })
    case 4:
      return replayExecution(tx, { executionId, requestId: request(walk), reason: 'again' })
    default:
      return describeExecution(tx, { executionId, attempts: true, payload: true, result: true })
  }
}

function lookingStep(walk: Walk, tx: Tx): unknown {
  switch (draw(walk, 5)) {
    case 0: {
      const listed = listExecutions(tx, {
        lane: draw(walk, 3) === 0 ? oneOf(walk, lanes, 'main') : undefined,
        state: draw(walk, 2) === 0 ? oneOf(walk, publicStates, 'waiting') : undefined,
        tag: draw(walk, 4) === 0 ? { name: 'plan', value: 'v1', indexed: true } : undefined,
        cursor: walk.listCursor,
        limit: 1 + draw(walk, 4),
      })
      walk.listCursor = listed.cursor
      return listed
    }
    case 1:
      return countExecutions(tx, {})
    case 2:
      return explainExecution(tx, { executionId: anId(walk) })
    case 3:
      return inspectPartition(tx, { limit: 1 + draw(walk, 20) })
    default: {
      const reconciled = reconcileIndexes(tx, { cursor: walk.reconcileCursor })
      walk.reconcileCursor = reconciled.cursor
      return reconciled
    }
  }
}

function anyStep(walk: Walk, tx: Tx): unknown {
  switch (draw(walk, 10)) {
    case 0:
    case 1:
      return createExecution(tx, aSubmit(walk))
    case 2:
    case 3: {
      const claimed = claimForWorker(tx, aClaim(walk))
      remember(walk, claimed)
      return claimed
    }
    case 4:
    case 5:
    case 6:
      return holderStep(walk, tx)
    case 7:
      return callerStep(walk, tx)
    case 8:
      return draw(walk, 3) > 0
        ? runDue(tx, { limit: 1 + draw(walk, 20), seed: 1 + draw(walk, 1_000_000) })
        : purgeExecutions(tx, {})
    default:
      return lookingStep(walk, tx)
  }
}

/** Takes one step. Returns its outcome. */
export function takeStep(walk: Walk): string {
  walk.world.now = walk.world.now + oneOf(walk, stepsMs, 0)
  return canonicalText(say(walk.world, ['bytes'], (tx) => anyStep(walk, tx)))
}
