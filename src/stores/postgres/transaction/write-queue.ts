/**
 * Runs batches that write. Batches of several partitions share the transactions that may run at once, at most one batch
 * of each partition. Effects are acknowledged and announced only after the commit, so a crash loses nothing that was
 * acknowledged.
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
import type { Batch, BatchOutcome, StagedFailure, TransactionOptions, TransactionParts } from './transaction.ts'

/** Limit of tries for a transaction that the server ends with idle_in_transaction_session_timeout. */
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
  /** Partitions with a batch in flight: a second one would only wait for the lock. */
  readonly #busy = new Set<number>()
  #running = 0
  #isScheduled = false

  constructor(options: {
    readonly runtime: Runtime
    readonly log: Log
    readonly pool: Pool
    /** Limit of transactions in flight. */
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

  /** Starts transactions at the end of the turn, so that batches queued in one turn share them. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#runtime.soon(() => {
      this.#isScheduled = false
      for (let free = this.#transactionsMax - this.#running; free > 0; free--) {
        const ready = this.#ready()
        if (ready.length === 0) return
        // Parallel transactions fill each other's waits, so batches share one only if there are more partitions than
        // free transactions.
        void this.#start(ready.slice(0, Math.ceil(ready.length / free)))
      }
    })
  }

  /** Returns the oldest waiting batch of each partition without a batch in flight. */
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
    // One operation fails for good; run the batches one by one so that it fails alone.
    for (const batch of batches) await this.#runAlone(batch)
  }

  #answer(batch: Waiting, outcome: BatchOutcome | undefined): void {
    if (outcome === undefined) {
      batch.reject(new Error('The transaction returned no outcome for a batch.'))
      return
    }
    batch.resolve(outcome.answers)
    this.#publish(batch, outcome)
  }

  #publish({ partition, number }: Batch, { wake, hasMoreStaged, failures }: BatchOutcome): void {
    if (wake !== undefined) this.#onWake(wake)
    this.#logFailures(partition, failures)
    if (hasMoreStaged) this.takeStaged(partition, number)
  }

  /** Turns the staged submits of a partition into executions. A batch that waits there already will do so. */
  takeStaged(partition: Partition, number: number): void {
    if (this.#waiting.some((batch) => batch.number === number)) return
    this.run(partition, number, []).catch((error: unknown) => {
      // The submits stay staged for the next batch of the partition.
      this.#log.debug(
        { partition, ...errorFields(asEngineError(error)) },
        'could not take staged submits; the next batch of the partition takes them',
      )
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

  /** Takes staged submits one by one. A submit that cannot become an execution is set aside, so that later ones can. */
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
    this.#logFailures(partition, failures)
  }

  #logFailures(partition: Partition, failures: readonly StagedFailure[]): void {
    for (const { inboxId, reason } of failures) {
      this.#log.error({ partition, inboxId, reason }, 'staged submit set aside; fix its row in the inbox to retry it')
    }
  }

  /**
   * Runs batches in a transaction, and again if the server ended it because this process was stalled: nothing was
   * committed then.
   */
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
