/** What the processes around a store saw, apart from the store: what was acknowledged, what handlers did, what went wrong. */
import type { Log, LogFields } from '../../src/runtime/index.ts'
import { EngineError } from '../../src/kernel/engine-error.ts'
import type { BodyEntry } from '../crash/work.ts'

export interface Acknowledgement {
  readonly executionId: string
  /** On this process's monotonic clock. */
  readonly at: number
}

export class Ledger {
  readonly #acknowledged = new Map<string, Acknowledgement>()
  readonly #bodies: BodyEntry[] = []
  readonly #begunAt = new Map<string, number>()
  readonly #refusals = new Map<string, number>()
  /** Errors that no caller may get, whatever is done to a server. */
  readonly complaints: string[] = []
  endedBodyCount = 0

  /** By the keys under which the work was submitted. */
  get acknowledgements(): ReadonlyMap<string, Acknowledgement> {
    return this.#acknowledged
  }

  acknowledge(key: string, executionId: string): void {
    this.#acknowledged.set(key, { executionId, at: performance.now() })
  }

  /** Forgets what the store was allowed to lose. */
  strike(keys: readonly string[]): void {
    for (const key of keys) this.#acknowledged.delete(key)
  }

  acknowledged(): Map<string, string> {
    return new Map([...this.#acknowledged].map(([key, { executionId }]) => [key, executionId]))
  }

  note(body: BodyEntry): void {
    this.#bodies.push(body)
    if (body.step === 'begun' && !this.#begunAt.has(body.executionId)) {
      this.#begunAt.set(body.executionId, performance.now())
    }
    if (body.step === 'ended') this.endedBodyCount += 1
  }

  bodies(): BodyEntry[] {
    return this.#bodies
  }

  /** When a handler first had it. */
  begunAt(executionId: string): number | undefined {
    return this.#begunAt.get(executionId)
  }

  /** A failure that a caller has to expect is counted; any other is a complaint. */
  refuse(error: unknown, expected: readonly string[]): void {
    const code = error instanceof EngineError ? error.code : 'unknown'
    this.#refusals.set(code, (this.#refusals.get(code) ?? 0) + 1)
    if (!expected.includes(code)) this.complaints.push(`a caller met ${String(error)}`)
  }

  refusalsOf(code: string): number {
    return this.#refusals.get(code) ?? 0
  }

  get refusalCount(): number {
    return [...this.#refusals.values()].reduce((sum, count) => sum + count, 0)
  }

  /** Warnings report lost leases and retried calls, which are expected here. */
  get log(): Log {
    return {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: (fields, message) => void this.complaints.push(`${message}: ${text(fields)}`),
    }
  }
}

function text(fields: LogFields): string {
  return JSON.stringify(fields)
}
