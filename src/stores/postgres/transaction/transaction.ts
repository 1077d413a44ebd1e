/**
 * One transaction that runs the batches of one or several partitions. The first round trip takes the locks, in a
 * statement of their own and in ascending order, and loads the planned reads. The last round trip writes and commits.
 * In between the operations run in passes until no read is missing.
 */
import { EngineError } from '../../../kernel/engine-error.ts'
import type { LevelGuard } from '../../level/store-level.ts'
import type { Answer, Call, Partition, Wake } from '../../store.ts'
import { isNothing } from '../../working-set/overlay/stored-data.ts'
import { wakeOf } from '../../working-set/overlay/wake-of.ts'
import { integerArray } from '../wire/arrays.ts'
import type { Connection } from '../wire/connection.ts'
import type { Statement, StatementReply } from '../wire/round-trip.ts'
import type { Flusher } from '../flush/flush.ts'
import type { Inbox, StagedCall } from '../staging/inbox.ts'
import type { Loader } from '../load/load.ts'
import type { PartitionWrites } from '../flush/partition-writes.ts'
import { Passes } from '../../working-set/load/passes.ts'
import type { Pass } from '../../working-set/load/passes.ts'
import { WorkingSet } from '../../working-set/load/working-set.ts'

/** Limit for a statement to wait for a lock, above all for the locks of the partitions. */
const LOCK_WAIT_MS = 10_000
/** Share of the request timeout that a lock wait may take, so that the refusal arrives before the timeout. */
const LOCK_WAIT_SHARE = 2 / 3
/**
 * A process that stalls in a transaction loses it, and with it the locks that others wait for. Longer than a busy
 * machine delays a healthy process.
 */
const IDLE_MAX_MS = 5_000

export interface Batch {
  readonly partition: Partition
  readonly number: number
  readonly calls: readonly Call[]
}

export interface BatchOutcome {
  readonly answers: Answer[]
  readonly wake: Wake | undefined
  /** Whether the inbox of the partition may hold more than this transaction took. */
  readonly hasMoreStaged: boolean
  /** Staged submits that became executions, or joined one. */
  readonly taken: readonly number[]
  /** Staged submits that were set aside. */
  readonly failures: readonly StagedFailure[]
}

export interface StagedFailure {
  readonly inboxId: number
  readonly reason: string
}

export interface TransactionParts {
  /** A quoted name. */
  readonly schema: string
  readonly lockSpace: number
  readonly loader: Loader
  readonly flusher: Flusher
  readonly inbox: Inbox
  readonly guard: LevelGuard
  /** Returns the time of the store; undefined uses the clock of the server. */
  readonly now: (() => number) | undefined
}

export interface TransactionOptions {
  /** Limit of staged submits to take from each partition. */
  readonly stagedMax: number
  /** Whether to use the fallback flush, which upserts, instead of the optimistic one. */
  readonly isFallback: boolean
  /** Receives the staged submits that were loaded, before they run. */
  readonly onStaged?: ((inboxIds: readonly number[]) => void) | undefined
}

export const COMMIT: Statement = { name: 'ff_commit', text: 'commit' }
export const BEGIN: Statement = { name: 'ff_begin', text: 'begin isolation level read committed' }

/** Tables are read only through indexes, whatever the planner assumes of tables without statistics. */
const setting = (name: string, value: string | number) => `set_config('${name}', '${value}', true)`
const PLANNER = [
  setting('enable_seqscan', 'off'),
  setting('enable_bitmapscan', 'off'),
  setting('enable_hashjoin', 'off'),
  setting('enable_mergejoin', 'off'),
  setting('jit', 'off'),
  // Batches differ in size; without this the server would plan each of them anew.
  setting('plan_cache_mode', 'force_generic_plan'),
]
const LIMITS = [setting('lock_timeout', LOCK_WAIT_MS), setting('idle_in_transaction_session_timeout', IDLE_MAX_MS)]
export const SETTINGS: Statement = { name: 'ff_settings', text: `select ${[...PLANNER, ...LIMITS].join(', ')}` }

interface Run {
  readonly batch: Batch
  readonly set: WorkingSet
  readonly staged: readonly StagedCall[]
  readonly passes: Passes
  /** The sequence of the newest event of the partition; undefined if the store has no such partition. */
  readonly lastSequence: number | undefined
  pass: Pass | undefined
}

export class Transaction {
  readonly #parts: TransactionParts
  readonly #connection: Connection
  readonly #batches: readonly Batch[]
  readonly #options: TransactionOptions

  /** At most one batch of each partition. */
  constructor(parts: TransactionParts, connection: Connection, batches: readonly Batch[], options: TransactionOptions) {
    this.#parts = parts
    this.#connection = connection
    this.#batches = [...batches].sort((a, b) => a.number - b.number)
    this.#options = options
  }

  /** Commits all batches, or throws. After an error the connection is in an unknown state and must be closed. */
  async run(): Promise<ReadonlyMap<Batch, BatchOutcome>> {
    const { runs, now } = await this.#begin()
    await this.#runInPasses(runs, now)
    return await this.#commit(runs)
  }

  async #begin(): Promise<{ readonly runs: readonly Run[]; readonly now: number }> {
    const { schema, lockSpace, loader, inbox } = this.#parts
    const planned = this.#batches.map((batch) => {
      const set = new WorkingSet()
      set.plan(batch.calls)
      return { batch, set }
    })
    const numbers = this.#batches.map(({ number }) => number)
    const loads = loader.steps(planned.map(({ batch, set }) => needsOf(batch.number, set)))
    const opening = [BEGIN, SETTINGS, ...statementTimeout(this.#connection), lock(lockSpace, numbers)]
    const head = [...opening, clock(schema, numbers), inbox.load(numbers, this.#options.stagedMax)]
    const replies = await this.#connection.send([...head, ...loads.map(({ statement }) => statement)])
    for (const [i, load] of loads.entries()) load.take(replyAt(replies, head.length + i))

    const clockRows = replyAt(replies, head.length - 2).rows as [number | null, number, string | null][]
    // A level is raised under the locks of all partitions, so no later level can be committed before this transaction.
    this.#parts.guard.observe(levelIn(clockRows[0]?.[2]))
    const staged = inbox.read(replyAt(replies, head.length - 1))
    this.#options.onStaged?.(staged.map(({ inboxId }) => inboxId))
    const runs = planned.map(({ batch, set }, i): Run => {
      const own = staged.filter(({ number }) => number === batch.number)
      const stagedCalls = own.flatMap(({ call }) => call ?? [])
      set.plan(stagedCalls)
      return {
        batch,
        set,
        staged: own,
        passes: new Passes([...stagedCalls, ...batch.calls]),
        lastSequence: clockRows[i]?.[0] ?? undefined,
        pass: undefined,
      }
    })
    return { runs, now: this.#parts.now?.() ?? (clockRows[0]?.[1] as number) }
  }

  /** Runs every batch until a pass has no missing reads. */
  async #runInPasses(runs: readonly Run[], now: number): Promise<void> {
    for (;;) {
      for (const run of runs) run.pass ??= run.passes.run(run.set, now)
      const missing = runs.filter((run) => run.pass === undefined)
      if (missing.length === 0) return
      const loads = this.#parts.loader.steps(missing.map(({ batch, set }) => needsOf(batch.number, set)))
      const replies = await this.#connection.send(loads.map(({ statement }) => statement))
      for (const [i, load] of loads.entries()) load.take(replyAt(replies, i))
    }
  }

  async #commit(runs: readonly Run[]): Promise<ReadonlyMap<Batch, BatchOutcome>> {
    const { flusher, inbox } = this.#parts
    const { stagedMax, isFallback: isCareful } = this.#options
    const outcomes = new Map(runs.map((run) => [run.batch, outcomeOf(run, stagedMax)]))
    const failures = [...outcomes.values()].flatMap((outcome) => outcome.failures)
    const taken = [...outcomes.values()].flatMap((outcome) => outcome.taken)
    const writes = runs.flatMap(writesOf)
    const replies = await this.#connection.send([
      ...flusher.statements(writes, isCareful),
      ...inbox.remove(taken),
      ...inbox.setAside(failures),
      COMMIT,
    ])
    refuseUnlessCommitted(replies)
    return outcomes
  }
}

/**
 * Throws unless the transaction was committed: the commit of a failed transaction answers ROLLBACK without an error.
 */
export function refuseUnlessCommitted(replies: readonly StatementReply[]): void {
  if (replies.at(-1)?.command !== 'COMMIT')
    throw new EngineError('store_unavailable', { message: 'The server rolled the transaction back.' })
}

/**
 * The server does not notice that a client which waits for a lock has disconnected. If it waited longer than the
 * client, every retry would leave one more waiting connection behind, until none is left.
 */
function statementTimeout({ requestTimeoutMs }: Connection): Statement[] {
  const waitMs = Math.ceil(requestTimeoutMs * LOCK_WAIT_SHARE)
  if (waitMs >= LOCK_WAIT_MS) return []
  const text = "select set_config('statement_timeout', $1, true)"
  return [{ name: 'ff_statement_timeout', text, values: [String(waitMs)] }]
}

/** Takes the locks in ascending order, before anything is read. */
function lock(lockSpace: number, numbers: readonly number[]): Statement {
  const text = 'select pg_advisory_xact_lock($1::integer, number) from unnest($2::integer[]) as k (number)'
  return { name: 'ff_lock', text, values: [lockSpace, integerArray(numbers)] }
}

/**
 * Reads the clock after the locks were taken: a later transaction of a partition has a later time, and at least the
 * same level.
 */
function clock(schema: string, numbers: readonly number[]): Statement {
  return {
    name: 'ff_clock',
    text: `select p.last_sequence, floor(extract(epoch from clock_timestamp()) * 1000)::bigint,
        (select m.value from ${schema}.meta m where m.name = 'level')
      from unnest($1::integer[]) with ordinality as k (number, place)
      left join ${schema}.partition p on p.number = k.number order by k.place`,
    values: [integerArray(numbers)],
  }
}

/** Parses the stored level; a store that was set up before levels existed has none. */
function levelIn(value: string | null | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}

function needsOf(number: number, set: WorkingSet) {
  return { number, needs: set.takeNeeds(), into: set }
}

function replyAt(replies: readonly StatementReply[], place: number): StatementReply {
  const reply = replies[place]
  if (reply === undefined) throw new Error('The server did not answer a statement.')
  return reply
}

/** Throws if the partition does not exist any more, since writes there would never be read. */
function writesOf({ batch, lastSequence, pass }: Run): PartitionWrites[] {
  const writes = pass?.overlay.writes()
  if (writes === undefined || isNothing(writes)) return []
  if (lastSequence !== undefined) return [{ number: batch.number, lastSequence, writes }]
  const message = `The store has no partition ${batch.partition} any more: it was set up again while this program used it. Restart the program.`
  throw new EngineError('store_not_found', { message })
}

function outcomeOf({ batch, staged, lastSequence, pass }: Run, stagedMax: number): BatchOutcome {
  const answers = pass?.answers ?? []
  const stagedAnswers = answers.slice(0, answers.length - batch.calls.length)
  const taken: number[] = []
  const failures: StagedFailure[] = []
  for (const { call, inboxId } of staged) {
    const answer = call === undefined ? undefined : stagedAnswers.shift()
    // A submit that was not run stays in the inbox.
    if (answer?.kind === 'not_run') continue
    const reason = answer === undefined ? 'The staged call is not readable.' : failureOf(answer)
    if (reason === undefined) taken.push(inboxId)
    else failures.push({ inboxId, reason })
  }
  return {
    answers: answers.slice(answers.length - batch.calls.length),
    wake: pass === undefined ? undefined : wakeOf(batch.partition, pass.overlay.writes(), lastSequence),
    taken,
    failures,
    hasMoreStaged: stagedMax > 0 && staged.length === stagedMax,
  }
}

/** Returns why a staged submit has neither become an execution nor joined one; undefined if it has. */
function failureOf(answer: Answer): string | undefined {
  if (answer.kind === 'fault') return answer.reason
  if (answer.kind !== 'answered') return 'The submit was not run.'
  const result = answer.result as Extract<Answer<'createExecution'>, { kind: 'answered' }>['result']
  return result.kind === 'refused' ? `The submit was refused: ${result.code}.` : undefined
}
