/**
 * Random lives, as words: each command names what to do and to which of the few executions, workers and leases in play.
 * Numbers point into lists that grow as a sequence runs, so that any part of a sequence is a sequence, and shrinking works.
 */
import fc from 'fast-check'

/** Few, so that commands meet each other's executions. */
const EXECUTIONS = 3
/** Lists that grow are pointed into from their end; whatever is older than this is out of reach. */
const REACH = 12

const execution = fc.nat({ max: EXECUTIONS - 1 })
// Mostly the lease that was given out last, which may still be alive.
const lease = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat({ max: REACH }) })
const lane = fc.constantFrom('a', 'b')
const className = fc.constantFrom('one', 'two')
const seed = fc.integer({ min: 1, max: 1_000_000 })

// Few values that add up to one another, so that timers run out at the same moment, and exactly when somebody looks.
const durationMs = fc.constantFrom(0, 1, 1_000, 5_000)
const timeoutMs = fc.constantFrom(undefined, 1_000, 5_000)
const deadlineMs = fc.constantFrom(undefined, undefined, undefined, 0, 20_000, 60_000)
const retentionMs = fc.constantFrom(0, 30_000, 60_000, 60_000)
const leaseTtlMs = fc.constantFrom(1_000, 5_000, 30_000, 30_000)
const stepMs = fc.constantFrom(0, 1, 999, 1_000, 1_000, 4_000, 5_000, 30_000)

const bytes = fc.option(fc.uint8Array({ maxLength: 6 }), { nil: undefined })
const priority = fc.constantFrom(0, 0, 1, 9_000)
const tag = fc.record({
  name: fc.constantFrom('colour', 'team'),
  value: fc.constantFrom('red', 'blue', ''),
})
const retry = fc.record({
  attempts: fc.constantFrom(1, 2, 3, 5),
  backoff: fc.constantFrom(
    { kind: 'fixed' as const, delayMs: 0 },
    { kind: 'fixed' as const, delayMs: 1_000 },
    { kind: 'exponential' as const, initialMs: 1_000, maxMs: 5_000, factor: 2.5 },
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

const create = command('create', {
  execution,
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
  ifExists: fc.constantFrom('join' as const, 'reject' as const, 'replace' as const),
  isRepeated: fc.boolean(),
})
const claim = command('claim', {
  lanes: fc.constantFrom(['a'], ['a', 'b'], ['a', 'b'], ['b', 'a', 'b']),
  count: fc.integer({ min: 0, max: 3 }),
  worker: fc.nat({ max: 1 }),
  leaseTtlMs,
  isRepeated: fc.boolean(),
  seed,
})

const commands = {
  create,
  claim,
  complete: command('complete', { lease, bytes, next: fc.option(claim, { nil: undefined }) }),
  fail: command('fail', {
    lease,
    category: fc.constantFrom('transient', 'odd', 'permanent'),
    retryAfterMs: fc.option(durationMs, { nil: undefined }),
    seed,
  }),
  renew: command('renew', { lease, leaseTtlMs }),
  release: command('release', { lease }),
  delay: command('delay', { lease, delayMs: durationMs }),
  progress: command('progress', {
    lease,
    percent: fc.option(fc.constantFrom(0, 50, 100), { nil: undefined }),
    message: fc.option(fc.constantFrom('', 'half way', '☃'), { nil: undefined }),
  }),
  cancelOwn: command('cancelOwn', { lease }),
  cancel: command('cancel', { execution, force: fc.boolean(), graceMs: durationMs }),
  revoke: command('revoke', { execution, lease: fc.option(lease, { nil: undefined }) }),
  changePriority: command('changePriority', { execution, priority }),
  setTags: command('setTags', {
    execution,
    set: fc.array(tag, { maxLength: 2 }),
    remove: fc.subarray(['colour', 'team']),
  }),
  replay: command('replay', { execution, isRepeated: fc.boolean() }),
  due: command('due', { limit: fc.constantFrom(1, 3, 200), seed }),
  purge: command('purge', {}),
  describe: command('describe', { execution }),
  list: command('list', {
    lane: fc.option(lane, { nil: undefined }),
    state,
    tag: fc.option(tag, { nil: undefined }),
    limit: fc.integer({ min: 1, max: 3 }),
    isContinued: fc.boolean(),
  }),
  count: command('count', {}),
  explain: command('explain', { execution }),
  inspect: command('inspect', {}),
  reconcile: command('reconcile', { isContinued: fc.boolean() }),
  advance: command('advance', { ms: stepMs }),
}

export type Command = {
  [K in keyof typeof commands]: (typeof commands)[K] extends fc.Arbitrary<infer C> ? C : never
}[keyof typeof commands]

/** How often each occurs: enough claims and moves of the clock that leases are taken, kept and lost. */
const weights: Partial<Record<keyof typeof commands, number>> = {
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
  advance: 6,
}

const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  ...Object.entries(commands).map(([kind, arbitrary]) => ({
    weight: weights[kind as keyof typeof commands] ?? 1,
    arbitrary: arbitrary as fc.Arbitrary<Command>,
  })),
)

/** A few submits to begin with, then anything. */
export const anySequence: fc.Arbitrary<Command[]> = fc
  .tuple(
    fc.array(create, { minLength: 1, maxLength: EXECUTIONS, size: 'max' }),
    fc.array(anyCommand, { maxLength: 100, size: 'max' }),
  )
  .map(([creates, others]) => [...creates, ...others])

/** Commands that go to the store together, followed by a move of the clock. */
export const anyBatches = fc.array(
  fc.record({ commands: fc.array(anyCommand, { minLength: 1, maxLength: 8, size: 'max' }), stepMs }),
  { minLength: 1, maxLength: 25, size: 'max' },
)
