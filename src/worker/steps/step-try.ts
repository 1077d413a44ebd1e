/** One try of a step: what its work is given, and how long it may take. */
import type { StepContext, StepFunction } from '../../client/define/context.ts'
import { CategorisedError } from '../../client/define/errors.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { HeldExecution } from '../lease/leased-execution.ts'

export class StepCall implements StepContext {
  readonly name: string
  readonly attempt: number
  readonly #held: HeldExecution
  readonly #timeoutMs: number | undefined
  /** A handler that cleans up behind a cancel it knows of is not disturbed by it. */
  readonly #isUndisturbed: boolean
  #outOfTime: AbortController | undefined
  #signal: AbortSignal | undefined

  constructor(held: HeldExecution, name: string, attempt: number, timeoutMs: number | undefined) {
    this.#held = held
    this.name = name
    this.attempt = attempt
    this.#timeoutMs = timeoutMs
    this.#isUndisturbed = held.abortReason !== undefined
  }

  /** What a replay has set aside is asked of others anew, and not recognised as what was asked before. */
  get idempotencyKey(): string {
    const era = this.#held.claimed.journal?.era ?? 0
    const { idempotencyKey } = this.#held
    return `${era === 0 ? idempotencyKey : `${idempotencyKey}.${era}`}:${this.name}`
  }

  /** Made when somebody asks for it, as that of the handler. */
  get signal(): AbortSignal {
    return (this.#signal ??= this.#makeSignal())
  }

  /** Does the work. When it is out of time it is told so, and not waited for. */
  async run<Value>(work: StepFunction<Value>, runtime: Runtime): Promise<Value> {
    const timeoutMs = this.#timeoutMs
    if (timeoutMs === undefined) return await work(this)
    const outOfTime = Promise.withResolvers<never>()
    const timer = runtime.after(timeoutMs, () => {
      const reason = new CategorisedError('timeout', `Step '${this.name}' took longer than ${timeoutMs} ms.`)
      this.#outOfTime?.abort(reason)
      outOfTime.reject(reason)
    })
    try {
      return await Promise.race([work(this), outOfTime.promise])
    } finally {
      timer.cancel()
    }
  }

  #makeSignal(): AbortSignal {
    const isTimed = this.#timeoutMs !== undefined
    if (!isTimed && !this.#isUndisturbed) return this.#held.signal
    this.#outOfTime = new AbortController()
    const { signal } = this.#outOfTime
    return this.#isUndisturbed ? signal : AbortSignal.any([this.#held.signal, signal])
  }
}
