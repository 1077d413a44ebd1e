/**
 * Runs batches on a remote store: plan the reads, load them, run the operations over a working set until nothing is missing,
 * and commit their writes under conditions. A group whose conditions fail writes nothing; its operations, which are pure, run
 * again.
 *
 * An answer counts only if all reads of the operation are one snapshot: they came from one load, or a commit confirmed them.
 */
import { classOf, finishesWork, isReadOperation, passesLock, readsOnlyAsClaims } from '../../../kernel/index.ts'
import type { Instant } from '../../../kernel/index.ts'
import { versionGenerator } from '../../../runtime/index.ts'
import type { Runtime } from '../../../runtime/index.ts'
import type { Answer, AnswerListener, Call, Partition, Wake } from '../../store.ts'
import { EMPTY_COMMIT, RefusedRecord } from '../commit/backend.ts'
import type { AppliedReply, Backend, Commit, CommitReply, LockToken } from '../commit/backend.ts'
import type { BatchGroup, BatchOutcome } from '../overlay/batch-groups.ts'
import { callsIn, contentOf, isIdle, isTorn, needsCommit, needsLock, withoutGroups } from '../commit/commit-groups.ts'
import type { CommitContent } from '../commit/commit-groups.ts'
import { BatchRetries, LOCK_WAIT_MAX_MS, contended } from './batch-retries.ts'
import type { RetryReason } from './batch-retries.ts'
import { fillIn } from './late-blobs.ts'
import { OperationFailed, runPass } from './operation-failed.ts'
import { PartitionState } from '../partition/partition-state.ts'
import { Passes } from '../load/passes.ts'
import type { Pass } from '../load/passes.ts'
import { NONE, Settlement, leftOf, withApplied } from './settlement.ts'
import type { Settled } from './settlement.ts'
import { wakeOf } from '../overlay/wake-of.ts'
import { WorkingSet } from '../load/working-set.ts'
import type { Beforehand } from '../load/working-set.ts'

/** How far the time of a batch may lie behind the store's clock. */
const LAG_MAX_MS = 1_000
/** Conflicts of a batch after which it takes the lock. */
const OPTIMISTIC_TRIES = 2

export interface BatchRunnerOptions {
  readonly backend: Backend
  readonly runtime: Runtime
  /** The clock in use; undefined for the server's. */
  readonly now: (() => Instant) | undefined
  /** Waits in real time. */
  readonly pause: (ms: number) => Promise<void>
  /** Called after each applied commit. */
  readonly onWake: (wake: Wake) => void
}

/** Totals of a runner. */
export interface RunCounts {
  readonly operations: number
  /** Operations whose writes were refused because another process changed their reads. Counts every refusal. */
  readonly conflicts: number
}

/** How a batch is tried: first with the caches, then with fresh loads, finally under the lock. */
interface Mode {
  /** Whether the caches are not used. */
  readonly isFresh: boolean
  readonly isLocked: boolean
  /** An earlier run whose needs are loaded together. */
  readonly again?: WorkingSet | undefined
}

/** A pass without missing data. */
interface Run {
  readonly pass: Pass
  readonly now: Instant
  readonly set: WorkingSet
  readonly lock: LockToken | undefined
}

/** The outcome of one try. */
interface Tried extends Settled {
  /** The mode of the next try. */
  readonly next: Mode
  readonly reason: RetryReason
}

/** The lock expired between two loads, so the data of the first may have changed. */
class LockLost extends Error {
  override readonly name = 'LockLost'
}

export class BatchRunner {
  readonly #backend: Backend
  readonly #runtime: Runtime
  readonly #now: (() => Instant) | undefined
  readonly #pause: (ms: number) => Promise<void>
  readonly #onWake: (wake: Wake) => void
  readonly #version = versionGenerator()
  readonly #states = new Map<Partition, PartitionState>()
  /** The latest time of the caller's own clock. */
  #latest = -Infinity
  #operations = 0
  #conflicts = 0

  constructor({ backend, runtime, now, pause, onWake }: BatchRunnerOptions) {
    this.#backend = backend
    this.#runtime = runtime
    this.#now = now
    this.#pause = pause
    this.#onWake = onWake
  }

  get counts(): RunCounts {
    return { operations: this.#operations, conflicts: this.#conflicts }
  }

  /** Whether batches of a partition conflict with those of other processes. */
  isContended(partition: Partition): boolean {
    return this.#states.get(partition)?.hasHotRecords === true
  }

  /** Runs operations in order, each in isolation. If the store fails, applied operations are still answered. */
  async run(partition: Partition, calls: readonly Call[], onAnswer?: AnswerListener): Promise<Answer[]> {
    this.#operations += calls.length
    const state = this.#stateOf(partition)
    const answers: (Answer | undefined)[] = calls.map(() => undefined)
    const pending = [...calls]
    try {
      await this.#runTogether(state, pending, answers, onAnswer)
    } catch (error) {
      if (error instanceof OperationFailed) await this.#runOneByOne(state, pending, answers)
      else if (isUnanswered(answers)) throw error
    }
    return answers.map((answer) => answer ?? { kind: 'not_run' })
  }

  /** Fills in the answers as they become final. A partly applied call is replaced by its rest. */
  async #runTogether(
    state: PartitionState,
    calls: Call[],
    answers: (Answer | undefined)[],
    onAnswer?: AnswerListener,
  ): Promise<void> {
    let open = calls.map((_, i) => i)
    let mode: Mode = { isFresh: calls.every((call) => isReading(call) || isLooseCall(call)), isLocked: false }
    const name = this.#version()
    const retries = new BatchRetries(state.partition, this.#runtime)
    let held: readonly number[] = NONE
    while (open.length > 0) {
      const openCalls = open.map((i) => calls[i] as Call)
      const tried = await this.#try(state, openCalls, mode, name)
      if (isFinal(tried)) {
        for (let k = 0; k < open.length; k++) answers[open[k] as number] ??= tried.answers[k]
        return
      }
      const answered = open.filter((i, k) => answers[i] === undefined && tried.answers[k] !== undefined)
      for (const [k, i] of open.entries()) answers[i] ??= tried.answers[k]
      for (const { call, report } of tried.applied) replace(calls, open[call], (one) => withApplied(one, report))
      for (const k of tried.unfinished) replace(calls, open[k], leftOf)
      open = open.filter((_, k) => tried.answers[k] === undefined || tried.unfinished.includes(k))
      if (open.length === 0) return
      retries.note(tried.reason)
      mode = retries.conflictCount >= OPTIMISTIC_TRIES ? { ...tried.next, isLocked: true } : tried.next
      // The next try mostly finishes the rest of a call. Leases already taken must not expire while it waits for a lock.
      const certain = [...held, ...answered]
      held = mode.isLocked || tried.reason === 'lock' ? NONE : answered.filter((i) => open.includes(i))
      for (const i of certain) if (!held.includes(i)) onAnswer?.(i, answers[i] as Answer)
      if (tried.reason === 'lock') await this.#pause(retries.pauseMs)
    }
  }

  /** Isolates an operation that throws from the others. */
  async #runOneByOne(state: PartitionState, calls: readonly Call[], answers: (Answer | undefined)[]): Promise<void> {
    for (const [i, call] of calls.entries()) {
      if (answers[i] !== undefined) continue
      const own: (Answer | undefined)[] = [undefined]
      try {
        await this.#runTogether(state, [call], own)
        answers[i] = own[0]
      } catch (error) {
        if (error instanceof OperationFailed) answers[i] = error.answerTo(call)
        else if (isUnanswered(answers)) throw error
        else return
      }
    }
  }

  /** `name` identifies the reservations of this batch over all its tries. */
  async #try(state: PartitionState, calls: readonly Call[], mode: Mode, name: string): Promise<Tried> {
    const now = this.#now?.() ?? state.clock.now()
    const beforehand = mode.isFresh ? undefined : this.#beforehand(state, calls, now)
    const set = new WorkingSet(beforehand, name)
    if (mode.again !== undefined) set.planAgain(mode.again)
    const onlyReads = calls.every(isReading)
    set.sendsLate = !onlyReads
    set.plan(calls)
    const lock = mode.isLocked || (!onlyReads && state.isContended(set)) ? this.#version() : undefined
    try {
      return await this.#settle(state, calls, mode, await this.#runInPasses(state, calls, set, lock))
    } catch (error) {
      if (error instanceof OperationFailed && lock !== undefined) this.#release(state, set, lock)
      if (!(error instanceof LockLost)) throw error
      const next = { isFresh: true, isLocked: true }
      return { answers: calls.map(() => undefined), applied: NONE, unfinished: NONE, next, reason: undefined }
    }
  }

  /** A batch with a read of edges does not use cached edges: an audit would not find a damaged index. */
  #beforehand(state: PartitionState, calls: readonly Call[], now: Instant | undefined): Beforehand {
    const knowsEdges = calls.every(
      (call) => readsOnlyAsClaims(call.operation) || !(isReading(call) || isLooseCall(call)),
    )
    return state.beforehand(now, { checksClear: this.#backend.checksClear === true, knowsEdges })
  }

  async #runInPasses(
    state: PartitionState,
    calls: readonly Call[],
    set: WorkingSet,
    lock: LockToken | undefined,
  ): Promise<Run> {
    const passes = new Passes(calls)
    let now = this.#now?.() ?? state.clock.now()
    if (lock !== undefined || now === undefined || set.isMissingAny) {
      const loadedAt = await this.#load(state, set, lock)
      now = this.#now?.() ?? loadedAt
    }
    for (;;) {
      const pass = runPass(passes, set, now)
      if (pass !== undefined) return { pass, now, set, lock }
      await this.#load(state, set, lock)
    }
  }

  async #load(state: PartitionState, set: WorkingSet, lock: LockToken | undefined): Promise<Instant> {
    const needs = set.takeNeeds()
    const since = this.#runtime.monotonic()
    const holdsLock = lock !== undefined && set.loadCount > 1
    const { partition } = state
    const request = { partition, needs, into: set, lock, holdsLock, reserver: set.name, now: this.#now?.() }
    for (;;) {
      const { now, busyMs, isLockLost } = await this.#backend.load(request)
      this.#observe(state, now)
      if (isLockLost === true) throw new LockLost()
      if (busyMs === undefined) {
        state.noteLoad(needs, set)
        return now
      }
      if (this.#runtime.monotonic() - since > LOCK_WAIT_MAX_MS) throw contended(partition)
      await this.#pause(busyMs)
    }
  }

  /** Answers final groups, commits the others, and leaves the rest to another try. */
  async #settle(state: PartitionState, calls: readonly Call[], mode: Mode, run: Run): Promise<Tried> {
    const { pass, set, lock } = run
    const outcome = pass.overlay.outcome()
    const settlement = new Settlement(outcome, pass.answers)
    const uncertain: BatchGroup[] = []
    let next: Mode = { isFresh: true, isLocked: lock !== undefined }
    let isCertain = true
    const tried = (reason: RetryReason): Tried => ({ ...settlement.result(calls), next, reason })
    for (const group of outcome.groups) {
      const isLoose = group.operations.every((i) => isLooseCall(calls[outcome.callOf[i] as number]))
      if (isIdle(group)) continue
      if (lock === undefined && needsLock(group)) next = { ...next, isLocked: true }
      else if (lock === undefined && !isLoose && isTorn(group, set)) next = reloadOrLock(next, mode, set)
      else if (needsCommit(group, set, isLoose)) uncertain.push(group)
      else continue
      isCertain &&= uncertain.at(-1) === group
    }
    // The whole batch runs again, so that its operations keep their order.
    if (!isCertain) return tried(undefined)
    if (uncertain.length < outcome.groups.length) {
      for (const group of outcome.groups) if (!uncertain.includes(group)) settlement.settle(group)
    }
    if (uncertain.length === 0 && lock === undefined) {
      if (set.reserved.length > 0) this.#release(state, set, undefined)
      return tried(undefined)
    }
    let committed: readonly BatchGroup[] = uncertain
    let reply = await this.#commit(state, calls, outcome, uncertain, run)
    const isHeldUp = reply.kind === 'refused' && reply.reason === 'locked'
    if (isHeldUp) {
      // Renewals pass the lock: a lease must not expire because other work of the batch has to wait.
      committed = uncertain.filter(({ operations }) =>
        operations.every((i) => passesLock((calls[outcome.callOf[i] as number] as Call).operation)),
      )
      if (committed.length > 0) reply = await this.#commit(state, calls, outcome, committed, run)
    }
    if (reply.kind === 'refused') {
      if (reply.reason === 'clock') state.clock.restart(reply.now)
      return tried(isHeldUp ? 'lock' : undefined)
    }
    const { failed } = reply
    committed.forEach((group, i) => {
      if (!failed.includes(i)) settlement.settle(group)
    })
    return tried(isHeldUp ? 'lock' : failed.length > 0 ? 'conflict' : undefined)
  }

  async #commit(
    state: PartitionState,
    calls: readonly Call[],
    outcome: BatchOutcome,
    chosen: readonly BatchGroup[],
    run: Run,
  ): Promise<CommitReply> {
    const { now, set, lock } = run
    const content = contentOf(outcome, chosen, now)
    const concerned: Call[] = []
    content.groupOf.forEach((group, i) => {
      if (group !== undefined) concerned.push(calls[content.callOf[i] as number] as Call)
    })
    const version = this.#version()
    const commit: Commit = {
      partition: state.partition,
      now,
      ...this.#clockOf(now),
      version,
      lock,
      passesLock: lock === undefined && concerned.every(({ operation }) => passesLock(operation)),
      finishesWork: concerned.every((call) => finishesWork(call.operation) || isReading(call)),
      reserved: set.reserved,
      ...content,
    }
    const reply = await this.#backend.commit(commit).catch((error: unknown) => {
      throw error instanceof RefusedRecord ? new OperationFailed(error.message, { cause: error }) : error
    })
    this.#observe(state, reply.now)
    if (reply.kind === 'applied') {
      fillIn(calls, run, outcome.late, content, reply)
      this.#take(state, chosen, content, version, reply)
    }
    return reply
  }

  #clockOf(now: Instant): Pick<Commit, 'lagMs' | 'isClockBack'> {
    if (this.#now === undefined) return { lagMs: LAG_MAX_MS }
    this.#latest = Math.max(this.#latest, now)
    return { lagMs: undefined, isClockBack: now < this.#latest }
  }

  /**
   * Releases the reservations and the lock of a batch that commits nothing. Not awaited: it precedes all later calls of this
   * process on the connection, and if it is lost, both expire.
   */
  #release({ partition }: PartitionState, { reserved }: WorkingSet, lock: LockToken | undefined): void {
    const commit: Commit = {
      ...EMPTY_COMMIT,
      partition,
      lock,
      passesLock: lock === undefined,
      reserved,
    }
    this.#backend.commit(commit).catch(() => undefined)
  }

  /** A server whose clock went back was replaced or restored, so the caches are dropped. */
  #observe(state: PartitionState, now: Instant): void {
    if (!state.clock.observe(now) || this.#now !== undefined) return
    state.forget()
    state.clock.restart(now)
  }

  /** Updates the caches after a commit and wakes listeners. */
  #take(
    state: PartitionState,
    chosen: readonly BatchGroup[],
    content: CommitContent,
    version: string,
    { failed, lastSequence, eventsAt }: AppliedReply,
  ): void {
    state.noteSequence(lastSequence)
    for (const i of failed) state.noteConflict(chosen[i] as BatchGroup, content.touched)
    if (failed.length > 0) this.#conflicts += callsIn(content, failed).size
    const applied = failed.length === 0 ? content : withoutGroups(content, failed)
    state.noteApplied(applied, version)
    const wake = wakeOf(state.partition, applied, lastSequence - applied.events.length, eventsAt)
    if (wake !== undefined) this.#onWake(wake)
  }

  #stateOf(partition: Partition): PartitionState {
    let state = this.#states.get(partition)
    if (state === undefined) {
      state = new PartitionState(partition, this.#runtime)
      this.#states.set(partition, state)
    }
    return state
  }
}

/** Reads of several loads are repeated in one load, then under the lock. */
function reloadOrLock(next: Mode, { again }: Mode, set: WorkingSet): Mode {
  return again === undefined ? { ...next, again: set } : { ...next, isLocked: true }
}

/** Whether all calls are answered and have nothing left to run. */
function isFinal({ answers, applied, unfinished }: Tried): boolean {
  return applied.length === 0 && unfinished.length === 0 && !answers.includes(undefined)
}

function replace(calls: Call[], i: number | undefined, by: (call: Call) => Call): void {
  if (i !== undefined) calls[i] = by(calls[i] as Call)
}

function isUnanswered(answers: readonly (Answer | undefined)[]): boolean {
  return answers.every((answer) => answer === undefined)
}

function isReading({ operation }: Call): boolean {
  return isReadOperation(operation)
}

function isLooseCall(call: Call | undefined): boolean {
  return call !== undefined && classOf(call.operation, call.input) === 'loose'
}
