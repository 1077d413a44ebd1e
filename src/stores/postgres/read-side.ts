/**
 * Everything that only looks. All that one look loads comes from one snapshot, nobody's lock is waited for, and nothing is
 * left open on the server between one load and the next: if more is needed, everything is loaded again together with it.
 */
import { Overlay } from '../overlay.ts'
import type { Answer, Call } from '../store.ts'
import type { Statement, StatementReply } from './connection.ts'
import type { Loader } from './load.ts'
import type { Needs } from './needs.ts'
import type { Pool } from './pool.ts'
import { COMMIT, PASS_MAX, READ_SETTINGS, TooManyPasses } from './transaction.ts'
import { WorkingSet } from './working-set.ts'

export const BEGIN_SNAPSHOT: Statement = {
  name: 'ff_begin_snapshot',
  text: 'begin isolation level repeatable read, read only',
}
const CLOCK: Statement = {
  name: 'ff_read_clock',
  text: 'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint',
}

export class ReadSide {
  readonly #pool: Pool
  readonly #loader: Loader
  readonly #now: (() => number) | undefined

  constructor(pool: Pool, loader: Loader, now: (() => number) | undefined) {
    this.#pool = pool
    this.#loader = loader
    this.#now = now
  }

  async run(number: number, calls: readonly Call[]): Promise<Answer[]> {
    const planned = new WorkingSet()
    planned.plan(calls)
    const needs = [planned.takeNeeds()]
    for (let pass = 1; pass <= PASS_MAX; pass++) {
      const { set, now } = await this.#load(number, needs)
      const answers = new Overlay(set, now).runAll(calls)
      if (!set.isMissingAny) return answers
      needs.push(set.takeNeeds())
    }
    throw new TooManyPasses(`A batch needed more than ${PASS_MAX} passes.`)
  }

  async #load(number: number, all: readonly Needs[]): Promise<{ readonly set: WorkingSet; readonly now: number }> {
    const set = new WorkingSet()
    const steps = all.flatMap((needs) => this.#loader.steps([{ number, needs, into: set }]))
    const replies = await this.#pool.use((connection) =>
      snapshot(connection, [CLOCK, ...steps.map(({ statement }) => statement)]),
    )
    for (const [i, step] of steps.entries()) {
      const reply = replies[i + 1]
      if (reply !== undefined) step.take(reply)
    }
    return { set, now: this.#now?.() ?? (replies[0]?.rows[0]?.[0] as number) }
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
  const replies = await connection.send([BEGIN_SNAPSHOT, READ_SETTINGS, ...statements, COMMIT])
  return replies.slice(2, -1)
}
