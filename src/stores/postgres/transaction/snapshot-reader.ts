/**
 * Runs batches of read operations. All reads of a batch come from one snapshot and wait for no lock. A batch whose
 * reads are planned in full is one round trip, which leaves no transaction open.
 */
import { runOneByOne } from '../../sql/run-one-by-one.ts'
import type { Answer, Call } from '../../store.ts'
import type { Statement, StatementReply } from '../wire/round-trip.ts'
import type { LoadStep } from '../load/load-range.ts'
import type { Loader } from '../load/load.ts'
import { faultOf, isOperationFailure } from './operation-failure.ts'
import { Passes } from '../../working-set/load/passes.ts'
import type { Pool } from '../wire/pool.ts'
import { COMMIT, SETTINGS } from './transaction.ts'
import { WorkingSet } from '../../working-set/load/working-set.ts'

const BEGIN_SNAPSHOT: Statement = {
  name: 'ff_begin_snapshot',
  text: 'begin isolation level repeatable read, read only',
}
const CLOCK: Statement = {
  name: 'ff_read_clock',
  text: 'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint',
}

export class SnapshotReader {
  readonly #pool: Pool
  readonly #loader: Loader
  readonly #now: (() => number) | undefined

  constructor(pool: Pool, loader: Loader, now: (() => number) | undefined) {
    this.#pool = pool
    this.#loader = loader
    this.#now = now
  }

  async run(number: number, calls: readonly Call[]): Promise<Answer[]> {
    try {
      return await this.#runTogether(number, calls)
    } catch (error) {
      if (!isOperationFailure(error)) throw error
    }
    return await runOneByOne(calls, (call) => this.#runTogether(number, [call]), faultOf)
  }

  async #runTogether(number: number, calls: readonly Call[]): Promise<Answer[]> {
    const set = new WorkingSet()
    set.plan(calls)
    const steps = this.#loader.steps([{ number, needs: set.takeNeeds(), into: set }])
    const [clock, ...loaded] = await this.#pool.use((connection) =>
      snapshot(connection, [CLOCK, ...steps.map(({ statement }) => statement)]),
    )
    take(steps, loaded)
    const pass = new Passes(calls).run(set, this.#clockOf(clock))
    return pass?.answers ?? (await this.#runInPasses(number, calls))
  }

  /** Runs the batch in passes on a snapshot that stays open until all reads are known. */
  #runInPasses(number: number, calls: readonly Call[]): Promise<Answer[]> {
    const set = new WorkingSet()
    set.plan(calls)
    return this.#pool.use(async (connection) => {
      const [, , clock] = await connection.send([BEGIN_SNAPSHOT, SETTINGS, CLOCK])
      const now = this.#clockOf(clock)
      const passes = new Passes(calls)
      for (;;) {
        const steps = this.#loader.steps([{ number, needs: set.takeNeeds(), into: set }])
        take(steps, await connection.send(steps.map(({ statement }) => statement)))
        const pass = passes.run(set, now)
        if (pass === undefined) continue
        await connection.send([COMMIT])
        return pass.answers
      }
    })
  }

  #clockOf(reply: StatementReply | undefined): number {
    return this.#now?.() ?? (reply?.rows[0]?.[0] as number)
  }
}

function take(steps: readonly LoadStep[], replies: readonly StatementReply[]): void {
  for (const [i, step] of steps.entries()) {
    const reply = replies[i]
    if (reply !== undefined) step.take(reply)
  }
}

interface Sender {
  readonly send: (statements: readonly Statement[]) => Promise<readonly StatementReply[]>
}

/** Runs statements on one snapshot, in one round trip. */
export async function snapshot(
  connection: Sender,
  statements: readonly Statement[],
): Promise<readonly StatementReply[]> {
  const replies = await connection.send([BEGIN_SNAPSHOT, SETTINGS, ...statements, COMMIT])
  return replies.slice(2, -1)
}
