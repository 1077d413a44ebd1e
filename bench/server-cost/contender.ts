/** What is asked of everything whose cost inside the server is measured: the three steps of an execution's life. */
import type { Server } from '../../test/servers/server.ts'

export interface Contender {
  /** Begins the names of its metrics. */
  readonly name: string
  /** Executions that share one call. */
  readonly batchSize: number
  readonly open: (server: Server) => Promise<ContenderSession>
}

/** Each call of a step takes the next executions that have not come so far yet, as many as share one call. */
export interface ContenderSession extends AsyncDisposable {
  readonly create: () => Promise<void>
  readonly claim: () => Promise<void>
  readonly complete: () => Promise<void>
}

export const steps = ['create', 'claim', 'complete'] as const
export type Step = (typeof steps)[number]

/** Stored as the result of every execution. */
export const RESULT = Buffer.from('{"ok":true}')
/** Longer than a measurement lasts, so that no lease runs out in it. */
export const LEASE_TTL_MS = 600_000

/** Says what went wrong, since the cost of a refusal is not what is looked for. */
export function expectAnswer(expected: string, answer: string): void {
  if (answer !== expected) throw new Error(`The server answered ${answer} instead of ${expected}.`)
}
