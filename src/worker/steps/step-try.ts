/** One try of a step: the context of its work, and its timeout. */
import type { StepContext, StepFunction } from '../../client/define/context.ts'
import { CategorisedError } from '../../client/define/errors.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'

/** What a step streams to, and the budgets that it spends. */
export interface StepStreams extends Pick<StepContext, 'frames' | 'summary'> {
  readonly budgetsOf: (step: Pick<StepContext, 'name' | 'attempt'>) => Pick<StepContext, 'spend' | 'reserve'>
}

export class StepTry implements StepContext {
  readonly name: string
  readonly attempt: number
  readonly #leased: LeasedExecution
  readonly #timeoutMs: number | undefined
  readonly #streams: () => StepStreams
  /** Cleanup after a delivered abort must not be aborted again for the same reason. */
  readonly #ignoresCancel: boolean
  #timeout: AbortController | undefined
  #budgets: Pick<StepContext, 'spend' | 'reserve'> | undefined
  #signal: AbortSignal | undefined

  constructor(
    leased: LeasedExecution,
    name: string,
    attempt: number,
    timeoutMs: number | undefined,
    streams: () => StepStreams,
  ) {
    this.#leased = leased
    this.name = name
    this.attempt = attempt
    this.#timeoutMs = timeoutMs
    this.#streams = streams
    this.#ignoresCancel = leased.abortReason !== undefined
  }

  /** A replayed step gets a new key, so that external systems do not deduplicate it. */
  get idempotencyKey(): string {
    const era = this.#leased.claimed.journal?.era ?? 0
    const { idempotencyKey } = this.#leased
    return `${era === 0 ? idempotencyKey : `${idempotencyKey}.${era}`}:${this.name}`
  }

  get frames(): StepContext['frames'] {
    return this.#streams().frames
  }

  get summary(): StepContext['summary'] {
    return this.#streams().summary
  }

  get spend(): StepContext['spend'] {
    return this.#ownBudgets.spend
  }

  get reserve(): StepContext['reserve'] {
    return this.#ownBudgets.reserve
  }

  get #ownBudgets(): Pick<StepContext, 'spend' | 'reserve'> {
    return (this.#budgets ??= this.#streams().budgetsOf(this))
  }

  /** Created lazily. */
  get signal(): AbortSignal {
    return (this.#signal ??= this.#makeSignal())
  }

  /** Whether the work has the signal, and so may have reacted to its abort. */
  get hasGivenSignal(): boolean {
    return this.#signal !== undefined
  }

  /** Runs the work. On a timeout, aborts its signal and rejects without waiting for it. */
  async run<Value>(work: StepFunction<Value>, runtime: Runtime): Promise<Value> {
    const timeoutMs = this.#timeoutMs
    if (timeoutMs === undefined) return await work(this)
    const timedOut = Promise.withResolvers<never>()
    const timer = runtime.after(timeoutMs, () => {
      const reason = new CategorisedError('timeout', `Step '${this.name}' took longer than ${timeoutMs} ms.`)
      this.#timeout?.abort(reason)
      timedOut.reject(reason)
    })
    try {
      return await Promise.race([work(this), timedOut.promise])
    } finally {
      timer.cancel()
    }
  }

  #makeSignal(): AbortSignal {
    const isTimed = this.#timeoutMs !== undefined
    if (!isTimed && !this.#ignoresCancel) return this.#leased.signal
    this.#timeout = new AbortController()
    const { signal } = this.#timeout
    return this.#ignoresCancel ? signal : AbortSignal.any([this.#leased.signal, signal])
  }
}
