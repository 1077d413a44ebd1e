/**
 * Everything that changes a store. Batches of partitions that are ready together share the transactions that may run at
 * once, at most one batch of each partition. Effects are acknowledged and announced only after the commit, so a crash at
 * any moment loses nothing that somebody was told of.
 */
import { errorFields } from '../../../runtime/index.ts'
import type { Log, Runtime } from '../../../runtime/index.ts'
import { runOneByOne } from '../../sql/run-one-by-one.ts'
import type { Answer, Call, Partition, Wake } from '../../store.ts'
import { INBOX_TAKE_MAX } from '../staging/inbox.ts'
import { faultOf, isOperationFailure, reasonOf } from './operation-failure.ts'
import type { Pool } from '../wire/pool.ts'
import { asEngineError, isIdleEnd } from '../wire/postgres-error.ts'
import { Transaction } from './transaction.ts'
import type { Batch, BatchOutcome, TransactionOptions, TransactionParts } from './transaction.ts'

/** How often batches are run whose transaction the server ends because this process was silent for too long. */
const IDLE_TRIES = 3

interface Waiting extends Batch {
  readonly resolve: (answers: Answer[]) => void
  readonly reject: (error: unknown) => void
}

export class WriteQueue {
  readonly #runtime: Runtime
  readonly #log: Log
  readonly #pool: Pool
  readonly #transactionsMax: number
  readonly #parts: TransactionParts
  readonly #onWake: (wake: Wake) => void
  #waiting: Waiting[] = []
  /** Partitions with a batch under way: another of the same would only wait for its lock. */
  readonly #busy = new Set<number>()
  #running = 0
  #isScheduled = false

  constructor(options: {
    readonly runtime: Runtime
    readonly log: Log
    readonly pool: Pool
    /** How many run at once. */
    readonly transactionsMax: number
    readonly parts: TransactionParts
    readonly onWake: (wake: Wake) => void
  }) {
    this.#runtime = options.runtime
    this.#log = options.log
    this.#pool = options.pool
    this.#transactionsMax = options.transactionsMax
    this.#parts = options.parts
    this.#onWake = options.onWake
  }

  run(partition: Partition, number: number, calls: readonly Call[]): Promise<Answer[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ partition, number, calls, resolve, reject })
      this.#schedule()
    })
  }

  /** At the end of the turn, so that batches which come together also go together. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#runtime.soon(() => {
      this.#isScheduled = false
      for (let free = this.#transactionsMax - this.#running; free > 0; free--) {
        const ready = this.#ready()
        if (ready.length === 0) return
        // Transactions that run at once fill each other's waits; only where there are more partitions do they share one.
        void this.#start(ready.slice(0, Math.ceil(ready.length / free)))
      }
    })
  }

  /** The oldest waiting batch of each partition that nobody is working on. */
  #ready(): Waiting[] {
    const ready = new Map<number, Waiting>()
    for (const batch of this.#waiting) {
      if (!this.#busy.has(batch.number) && !ready.has(batch.number)) ready.set(batch.number, batch)
    }
    return [...ready.values()]
  }

  async #start(batches: readonly Waiting[]): Promise<void> {
    this.#running += 1
    this.#waiting = this.#waiting.filter((batch) => !batches.includes(batch))
    for (const { number } of batches) this.#busy.add(number)
    try {
      await this.#runTogether(batches)
    } finally {
      this.#running -= 1
      for (const { number } of batches) this.#busy.delete(number)
      if (this.#waiting.length > 0) this.#schedule()
    }
  }

  async #runTogether(batches: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.#transact(batches, { stagedMax: INBOX_TAKE_MAX, isFallback: false })
      for (const batch of batches) this.#answer(batch, outcomes.get(batch))
      return
    } catch (error) {
      if (!isOperationFailure(error)) {
        for (const batch of batches) batch.reject(error)
        return
      }
    }
    // One of them is at fault; the others go on without it.
    for (const batch of batches) await this.#runAlone(batch)
  }

  #answer(batch: Waiting, outcome: BatchOutcome | undefined): void {
    if (outcome === undefined) {
      batch.reject(new Error('A batch was not run.'))
      return
    }
    batch.resolve(outcome.answers)
    this.#publish(batch, outcome)
  }

  #publish({ partition, number }: Batch, { wake, hasMoreStaged, failures }: BatchOutcome): void {
    if (wake !== undefined) this.#onWake(wake)
    for (const { inboxId, reason } of failures) {
      this.#log.error({ partition, inboxId, reason }, 'a staged submit was set aside')
    }
    if (hasMoreStaged) this.takeStaged(partition, number)
  }

  /** Turns what is staged in a partition into executions. A batch that waits there already will do so. */
  takeStaged(partition: Partition, number: number): void {
    if (this.#waiting.some((batch) => batch.number === number)) return
    this.run(partition, number, []).catch((error: unknown) => {
      // It stays staged; the next batch of the partition takes it.
      this.#log.debug({ partition, ...errorFields(asEngineError(error)) }, 'staged submits could not be taken')
    })
  }

  async #runAlone(batch: Waiting): Promise<void> {
    try {
      batch.resolve(await this.#runOneByOne(batch))
      await this.#takeStagedOneByOne(batch)
    } catch (error) {
      batch.reject(error)
    }
  }

  #runOneByOne({ partition, number, calls }: Batch): Promise<Answer[]> {
    const run = async (call: Call) => {
      const single: Batch = { partition, number, calls: [call] }
      const outcome = (await this.#transact([single], { stagedMax: 0, isFallback: true })).get(single)
      if (outcome === undefined) return []
      this.#publish(single, outcome)
      return outcome.answers
    }
    return runOneByOne(calls, run, faultOf)
  }

  /** One that cannot become an execution is set aside, so that those behind it can. */
  async #takeStagedOneByOne({ partition, number }: Batch): Promise<void> {
    const single: Batch = { partition, number, calls: [] }
    for (let i = 0; i < INBOX_TAKE_MAX; i++) {
      let taken: readonly number[] = []
      const onStaged = (inboxIds: readonly number[]) => void (taken = inboxIds)
      try {
        const outcome = (await this.#transact([single], { stagedMax: 1, isFallback: true, onStaged })).get(single)
        if (outcome === undefined) return
        this.#publish(single, { ...outcome, hasMoreStaged: false })
        if (!outcome.hasMoreStaged) return
      } catch (error) {
        if (!isOperationFailure(error) || taken.length === 0) throw error
        await this.#setAside(partition, taken, reasonOf(error))
      }
    }
    this.takeStaged(partition, number)
  }

  async #setAside(partition: Partition, inboxIds: readonly number[], reason: string): Promise<void> {
    const failures = inboxIds.map((inboxId) => ({ inboxId, reason }))
    await this.#pool.use((connection) => connection.send(this.#parts.inbox.setAside(failures)))
    for (const inboxId of inboxIds) this.#log.error({ partition, inboxId, reason }, 'a staged submit was set aside')
  }

  /** A process that stood still and lost its transaction runs the batches again: nothing of them was committed. */
  async #transact(batches: readonly Batch[], options: TransactionOptions): Promise<ReadonlyMap<Batch, BatchOutcome>> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#pool.use((connection) => new Transaction(this.#parts, connection, batches, options).run())
      } catch (error) {
        if (!isIdleEnd(error) || tries === IDLE_TRIES) throw error
      }
    }
  }
}
