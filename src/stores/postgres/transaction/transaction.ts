/**
 * One transaction that carries the batches of one or several partitions. Its first round trip takes the locks, in a
 * statement of their own and in ascending order, and loads what the batches are known to read; its last writes all and
 * commits. Between them the pure operations run, as often as they turn out to need something that was not loaded.
 */
import { EngineError } from '../../../kernel/engine-error.ts'
import type { LevelGuard } from '../../level/store-level.ts'
import type { Answer, Call, Partition, Wake } from '../../store.ts'
import { isNothing } from '../../working-set/stored-data.ts'
import { wakeOf } from '../../working-set/wake-of.ts'
import { integerArray } from '../wire/arrays.ts'
import type { Connection } from '../wire/connection.ts'
import type { Statement, StatementReply } from '../wire/round-trip.ts'
import type { Flusher } from '../flush/flush.ts'
import type { Inbox, StagedCall } from '../staging/inbox.ts'
import type { Loader } from '../load/load.ts'
import type { PartitionWrites } from '../flush/partition-writes.ts'
import { Passes } from '../../working-set/passes.ts'
import type { Pass } from '../../working-set/passes.ts'
import { WorkingSet } from '../../working-set/working-set.ts'

/** How long a statement may take: above all that which waits for the locks of partitions that others hold. */
const LOCK_WAIT_MS = 10_000
/** The part of the time for a request that it may spend on waiting for a lock, so that it still hears what it waited for. */
const LOCK_WAIT_SHARE = 2 / 3
/**
 * A process that stops in the middle of a transaction loses it, and with it the locks that others wait for. Longer than a busy
 * machine holds up a process that is well.
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
  /** Staged submits that have become executions, or joined one. */
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
  /** Whose clock counts; undefined for the server's. */
  readonly now: (() => number) | undefined
}

export interface TransactionOptions {
  /** Staged submits that are taken from each partition at most. */
  readonly stagedMax: number
  /** Whether what is written sets right what it finds, instead of being refused where the tables are not as they should be. */
  readonly isFallback: boolean
  /** Hears which staged submits were loaded, before they are run. */
  readonly onStaged?: ((inboxIds: readonly number[]) => void) | undefined
}

export const COMMIT: Statement = { name: 'ff_commit', text: 'commit' }
export const BEGIN: Statement = { name: 'ff_begin', text: 'begin isolation level read committed' }

/** Tables are reached through their indexes alone, whatever the planner makes of tables that it has no statistics of. */
const setting = (name: string, value: string | number) => `set_config('${name}', '${value}', true)`
const PLANNER = [
  setting('enable_seqscan', 'off'),
  setting('enable_bitmapscan', 'off'),
  setting('enable_hashjoin', 'off'),
  setting('enable_mergejoin', 'off'),
  setting('jit', 'off'),
  // Every batch has another size, for which the server would otherwise make a plan of its own.
  setting('plan_cache_mode', 'force_generic_plan'),
]
const LIMITS = [setting('lock_timeout', LOCK_WAIT_MS), setting('idle_in_transaction_session_timeout', IDLE_MAX_MS)]
export const SETTINGS: Statement = { name: 'ff_settings', text: `select ${[...PLANNER, ...LIMITS].join(', ')}` }

interface Run {
  readonly batch: Batch
  readonly set: WorkingSet
  readonly staged: readonly StagedCall[]
  readonly passes: Passes
  /** The number of its partition's newest event; undefined if the store has no such partition, which then holds nothing. */
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

  /** Either everything is written and answered, or it throws and the connection, in an unknown state, must be closed. */
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
    // The locks are held, and a level is raised under all of them: no later level can be committed before this transaction.
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

  /** Every batch runs again until it has needed nothing that was not there. */
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

/** A transaction that had failed before answers its commit without an error. */
export function refuseUnlessCommitted(replies: readonly StatementReply[]): void {
  if (replies.at(-1)?.command !== 'COMMIT')
    throw new EngineError('store_unavailable', { message: 'The server took the transaction back.' })
}

/**
 * The server does not notice that somebody who waits for a lock has gone. If it waited for longer than they do, those who
 * come again would each leave one more behind them, until no connection is left.
 */
function statementTimeout({ requestTimeoutMs }: Connection): Statement[] {
  const waitMs = Math.ceil(requestTimeoutMs * LOCK_WAIT_SHARE)
  if (waitMs >= LOCK_WAIT_MS) return []
  const text = "select set_config('statement_timeout', $1, true)"
  return [{ name: 'ff_statement_timeout', text, values: [String(waitMs)] }]
}

/** One after the other in the order of the numbers, which is ascending, and before anything is read. */
function lock(lockSpace: number, numbers: readonly number[]): Statement {
  const text = 'select pg_advisory_xact_lock($1::integer, number) from unnest($2::integer[]) as k (number)'
  return { name: 'ff_lock', text, values: [lockSpace, integerArray(numbers)] }
}

/** Read after the locks were taken: a later transaction of a partition also has a later time, and at least the same level. */
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

/** The settings hold JSON; a store that was set up before there were levels has none. */
function levelIn(value: string | null | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}

function needsOf(number: number, set: WorkingSet) {
  return { number, needs: set.takeNeeds(), into: set }
}

function replyAt(replies: readonly StatementReply[], place: number): StatementReply {
  const reply = replies[place]
  if (reply === undefined) throw new Error('A statement was not answered.')
  return reply
}

/** Nothing is ever written into a partition that the store does not have: nobody would look for it there. */
function writesOf({ batch, lastSequence, pass }: Run): PartitionWrites[] {
  const writes = pass?.overlay.writes()
  if (writes === undefined || isNothing(writes)) return []
  if (lastSequence !== undefined) return [{ number: batch.number, lastSequence, writes }]
  const message = `It has no partition ${batch.partition} any more: it was made anew while this program used it. Restart the program.`
  throw new EngineError('store_not_found', { message })
}

function outcomeOf({ batch, staged, lastSequence, pass }: Run, stagedMax: number): BatchOutcome {
  const answers = pass?.answers ?? []
  const stagedAnswers = answers.slice(0, answers.length - batch.calls.length)
  const taken: number[] = []
  const failures: StagedFailure[] = []
  for (const { call, inboxId } of staged) {
    const answer = call === undefined ? undefined : stagedAnswers.shift()
    // What there was no room for stays where it is.
    if (answer?.kind === 'not_run') continue
    const reason = answer === undefined ? 'It cannot be read.' : failureOf(answer)
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

/** Why a staged submit has not become an execution, nor joined one; undefined if it has. */
function failureOf(answer: Answer): string | undefined {
  if (answer.kind === 'fault') return answer.reason
  if (answer.kind !== 'answered') return 'It was not run.'
  const result = answer.result as Extract<Answer<'createExecution'>, { kind: 'answered' }>['result']
  return result.kind === 'refused' ? `It was refused: ${result.code}.` : undefined
}
