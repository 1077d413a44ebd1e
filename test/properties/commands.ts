/**
 * Random lives, as words: each command names what to do and to which of the few executions, workers and leases in play.
 * Numbers point into lists that grow as a sequence runs, so that any part of a sequence is a sequence, and shrinking works.
 */
import fc from 'fast-check'
import { BATCH_OPERATION_LIMIT, CLAIM_COUNT_MAX } from '../../src/kernel/index.ts'
import { anyLease } from './flow-commands.ts'
import type { FlowCommand } from './flow-commands.ts'
import type { JournalCommand } from './journal-commands.ts'

/** How much is in play: few executions, so that commands meet each other's, or so many that bounds are met. */
export interface Scale {
  readonly executions: number
  /** The most that one claim asks for. */
  readonly claimCount: number
  /** Leases are pointed at from the newest back; whatever is older than this is out of reach. */
  readonly reach: number
  /** Leases are mostly such as may still be alive. */
  readonly isAlive?: boolean
}

const FEW: Scale = { executions: 3, claimCount: 3, reach: 12 }
/** More than one claim, one purge or one due pass may take, and more than one call may write. */
const CROWD: Scale = { executions: 500, claimCount: CLAIM_COUNT_MAX, reach: 150 }

/** Once in five times. */
const rarely = fc.nat({ max: 4 }).map((number) => number === 4)
const mostly = fc.nat({ max: 4 }).map((number) => number !== 4)
const lane = fc.constantFrom('a', 'b')
const className = fc.constantFrom('one', 'two')
export const namespaces = ['acme', 'beta'] as const
const namespace = fc.constantFrom(...namespaces)
const seed = fc.integer({ min: 1, max: 1_000_000 })

// Few values that add up to one another, so that timers run out at the same moment, and exactly at a read.
const durationMs = fc.constantFrom(0, 1, 1_000, 5_000)
const timeoutMs = fc.constantFrom(undefined, undefined, 1_000, 5_000)
const deadlineMs = fc.constantFrom(undefined, undefined, undefined, 0, 20_000, 60_000)
const retentionMs = fc.constantFrom(0, 30_000, 60_000, 60_000)
const leaseTtlMs = fc.constantFrom(1_000, 5_000, 30_000, 30_000)
export const stepMs = fc.constantFrom(0, 0, 0, 1, 999, 1_000, 1_000, 4_000, 5_000, 30_000)
/** A clock that jumps: back by moments and days, forward by years. */
export const jumpMs = fc.constantFrom(0, 1_000, 30_000, -1, -1_000, -60_000, -86_400_000, 86_400_000, 31_536_000_000)

const bytes = fc.option(fc.uint8Array({ maxLength: 6 }), { nil: undefined })
const priority = fc.constantFrom(0, 0, 1, 9_000)
/** What people write: nothing at all, several lines, any script, and letters that take up to four bytes. */
const words = fc.constantFrom(
  '',
  'no',
  'größer als nötig',
  '進捗 50 %',
  'line one\nline two',
  '👩‍🚀 "☃" \\ \u0000 \u001f \u007f',
)
const tag = fc.record({
  name: fc.constantFrom('colour', 'team'),
  value: fc.constantFrom('red', 'blue', '', 'grün', '🟥'),
})
const maybeTag = fc.option(tag, { nil: undefined })
const filter = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.record({ namespace: fc.option(namespace, { nil: undefined }), tag: maybeTag }) },
)
const retry = fc.record({
  attempts: fc.constantFrom(1, 2, 3, 5),
  backoff: fc.constantFrom(
    { kind: 'fixed' as const, delayMs: 0 },
    { kind: 'fixed' as const, delayMs: 1_000 },
    { kind: 'exponential' as const, initialMs: 1_000, maxMs: 5_000, factor: 2.5 },
    { kind: 'exponential' as const, initialMs: 333, maxMs: 86_400_000, factor: 1.1 },
  ),
  jitter: fc.boolean(),
  onlyCategories: fc.subarray(['transient']),
})
const state = fc.constantFrom(undefined, 'waiting', 'active', 'delayed', 'completed', 'cancelled' as const)

function command<K extends string, T>(kind: K, fields: { [F in keyof T]: fc.Arbitrary<T[F]> }) {
  return fc.record({ kind: fc.constant(kind), ...fields }) as unknown as fc.Arbitrary<
    { readonly kind: K } & Readonly<T>
  >
}

export function commandsOver(scale: Scale) {
  const execution = fc.nat({ max: scale.executions - 1 })
  // Mostly the lease that was given out last, which may still be alive.
  const anyOld = fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: fc.nat({ max: scale.reach }) },
  )
  const lease = scale.isAlive === true ? anyLease(scale.reach) : anyOld
  const claim = command('claim', {
    lanes: fc.constantFrom(['a'], ['a', 'b'], ['a', 'b'], ['b', 'a', 'b']),
    count: fc.integer({ min: 0, max: scale.claimCount }),
    worker: fc.nat({ max: 1 }),
    leaseTtlMs,
    isRepeated: rarely,
    seed,
  })
  return {
    create: command('create', {
      execution,
      key: fc.option(words, { nil: undefined }),
      lane,
      class: className,
      priority,
      retry,
      delayMs: fc.option(durationMs, { nil: undefined }),
      attemptTimeoutMs: timeoutMs,
      totalTimeoutMs: deadlineMs,
      retentionMs,
      tags: fc.uniqueArray(tag, { maxLength: 2, selector: ({ name }) => name }),
      bytes,
      dedupeMs: fc.option(retentionMs, { nil: undefined }),
      digest: fc.constantFrom('one', 'two', undefined),
      ifExists: fc.constantFrom(...([undefined, 'join', 'reject', 'replace', 'after'] as const)),
      isRepeated: rarely,
    }),
    claim,
    complete: command('complete', { lease, bytes, next: fc.option(claim, { nil: undefined }) }),
    fail: command('fail', {
      lease,
      category: fc.constantFrom('transient', 'odd', 'permanent'),
      message: words,
      stack: fc.option(words, { nil: undefined }),
      retryAfterMs: fc.option(durationMs, { nil: undefined }),
      seed,
    }),
    renew: command('renew', { lease, leaseTtlMs }),
    release: command('release', { lease }),
    delay: command('delay', { lease, delayMs: durationMs }),
    progress: command('progress', {
      lease,
      percent: fc.option(fc.constantFrom(0, 12.5, 100 / 3, 100), { nil: undefined }),
      message: fc.option(words, { nil: undefined }),
    }),
    cancelOwn: command('cancelOwn', { lease }),
    cancel: command('cancel', { execution, reason: words, force: fc.boolean(), graceMs: durationMs }),
    revoke: command('revoke', { execution, lease: fc.option(lease, { nil: undefined }) }),
    changePriority: command('changePriority', { execution, priority }),
    setTags: command('setTags', {
      execution,
      set: fc.array(tag, { maxLength: 2 }),
      remove: fc.subarray(['colour', 'team']),
    }),
    replay: command('replay', { execution, isRepeated: rarely }),
    due: command('due', { limit: fc.constantFrom(1, 3, 200), filter, isContinued: mostly, seed }),
    purge: command('purge', { filter, isContinued: mostly }),
    describe: command('describe', { execution }),
    list: command('list', {
      namespace: fc.option(namespace, { nil: undefined }),
      lane: fc.option(lane, { nil: undefined }),
      state,
      tag: maybeTag,
      limit: fc.constantFrom(1, 2, 3, 200),
      isContinued: mostly,
    }),
    count: command('count', { lane: fc.option(lane, { nil: undefined }) }),
    explain: command('explain', { execution }),
    inspect: command('inspect', { limit: fc.constantFrom(1, 100) }),
    reconcile: command('reconcile', { isContinued: mostly }),
    /** A submit that refers to bytes which it does not bring: it meets a fault after its first writes. */
    broken: command('broken', {
      execution,
      lane,
      ifExists: fc.constantFrom(...(['join', 'replace', 'after'] as const)),
    }),
    advance: command('advance', { ms: stepMs }),
  }
}

type Commands = ReturnType<typeof commandsOver>

type ExecutionCommand = {
  [K in keyof Commands]: Commands[K] extends fc.Arbitrary<infer C> ? C : never
}[keyof Commands]

export type Command = ExecutionCommand | FlowCommand | JournalCommand

export type Weights = Partial<Record<keyof Commands, number>>

/** How often each occurs: enough claims and moves of the clock that leases are taken, kept and lost. */
export const weights: Weights = {
  create: 4,
  claim: 9,
  complete: 2,
  fail: 4,
  renew: 2,
  release: 2,
  delay: 2,
  cancel: 2,
  due: 4,
  replay: 4,
  list: 2,
  reconcile: 3,
  advance: 6,
}

export function anyOf(commands: Commands, weighted = weights): fc.Arbitrary<ExecutionCommand> {
  return fc.oneof(
    ...Object.entries(commands).map(([kind, arbitrary]) => ({
      weight: weighted[kind as keyof Commands] ?? 1,
      arbitrary: arbitrary as fc.Arbitrary<ExecutionCommand>,
    })),
  )
}

/** Commands that go to the store together, followed by a move of the clock. */
export interface Batch {
  readonly commands: readonly Command[]
  readonly stepMs: number
}

function anyBatchOf(
  commands: fc.Arbitrary<Command>,
  maxLength: number,
  steps: fc.Arbitrary<number>,
  minLength = 1,
): fc.Arbitrary<Batch> {
  return fc.record({ commands: fc.array(commands, { minLength, maxLength, size: 'max' }), stepMs: steps })
}

const few = commandsOver(FEW)
const anyOfFew = anyOf(few)

/** A few submits to begin with, then anything. */
export const anySequence: fc.Arbitrary<Command[]> = fc
  .tuple(
    fc.array(few.create, { minLength: 1, maxLength: FEW.executions, size: 'max' }),
    fc.array(anyOfFew, { maxLength: 100, size: 'max' }),
  )
  .map(([creates, others]) => [...creates, ...others])

/** The same in batches. */
function anyBatchesOfFew(steps: fc.Arbitrary<number>): fc.Arbitrary<Batch[]> {
  return fc
    .tuple(
      anyBatchOf(few.create, FEW.executions, steps),
      fc.array(anyBatchOf(anyOfFew, 8, steps), { maxLength: 25, size: 'max' }),
    )
    .map(([creates, others]) => [creates, ...others])
}

export const anyBatches = anyBatchesOfFew(stepMs)
/** While the clock jumps. */
export const anyBatchesInJumpingTime = anyBatchesOfFew(jumpMs)

const crowd = commandsOver(CROWD)
const finishing = fc.oneof(crowd.complete, crowd.fail, crowd.cancelOwn, crowd.delay)

/** Many submits at once, then batches as large as they get: many claims together, many ends together, or anything. */
export const anyCrowd: fc.Arbitrary<Batch[]> = fc
  .tuple(
    fc.array(anyBatchOf(crowd.create, BATCH_OPERATION_LIMIT, fc.constant(1), 40), { minLength: 5, maxLength: 8 }),
    fc.array(
      fc.oneof(
        anyBatchOf(crowd.claim, 12, stepMs),
        anyBatchOf(finishing, BATCH_OPERATION_LIMIT, stepMs),
        anyBatchOf(anyOf(crowd), BATCH_OPERATION_LIMIT, stepMs),
      ),
      { maxLength: 10, size: 'max' },
    ),
  )
  .map(([creates, others]) => [...creates, ...others])
