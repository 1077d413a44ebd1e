/** Reports the progress of one attempt. One call is pending at a time; reports made meanwhile are merged into the next. */
import type { ProgressReport } from '../../client/define/context.ts'
import { invalidInput, show } from '../../client/checks/names.ts'
import { PROGRESS_MESSAGE_BYTES } from '../../kernel/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import { cutText } from '../error-text.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import type { LeaseKeeper } from '../lease/lease-keeper.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import type { RetryServices } from '../store/retry-until-answered.ts'

const PERCENT_MAX = 100

/** Parses the arguments of `ctx.progress`: a percentage with an optional message, or an object. Truncates a long message. */
export function parseProgress(report: unknown, message?: unknown): ProgressReport {
  const { percent, message: text } = (
    typeof report === 'object' && report !== null ? report : { percent: report, message }
  ) as Record<'percent' | 'message', unknown>
  if (percent !== undefined && !(typeof percent === 'number' && percent >= 0 && percent <= PERCENT_MAX)) {
    throw invalidInput('progress', `progress is ${show(percent)}, but must be a number from 0 to ${PERCENT_MAX}.`)
  }
  if (text !== undefined && typeof text !== 'string') {
    throw invalidInput('progress.message', `progress.message is ${show(text)}, but must be a string.`)
  }
  return {
    ...(percent === undefined ? {} : { percent }),
    ...(text === undefined ? {} : { message: cutText(text, PROGRESS_MESSAGE_BYTES) }),
  }
}

export class ProgressReporter {
  readonly #send: (report: ProgressReport) => Promise<void>
  #pending: ProgressReport = {}
  #current: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(send: (report: ProgressReport) => Promise<void>) {
    this.#send = send
  }

  /** Resolves when this report, or the merged report that includes it, is stored. */
  report(report: ProgressReport): Promise<void> {
    this.#pending = { ...this.#pending, ...report }
    this.#next ??= this.#sendNext()
    return this.#next
  }

  /** Resolves when no report is pending. Ignores failures. */
  async flush(): Promise<void> {
    await (this.#next ?? this.#current)?.catch(() => undefined)
  }

  async #sendNext(): Promise<void> {
    await this.#current?.catch(() => undefined)
    const report = this.#pending
    this.#pending = {}
    this.#current = this.#next
    this.#next = undefined
    await this.#send(report)
  }
}

/** Stores the progress of an attempt. Throws the lease loss if the store refuses the report. */
export async function sendProgress(
  services: RetryServices & { readonly batcher: Batcher; readonly keeper: LeaseKeeper },
  leased: LeasedExecution,
  report: ProgressReport,
): Promise<void> {
  leased.throwIfRefused()
  const input = { executionId: leased.id, fence: leased.claimed.fence, ...report }
  const send = () => services.batcher.run(leased.partition, 'updateProgress', input)
  try {
    const { result } = await retryUntilAnswered(services, leased, send)
    if (result.kind === 'refused' && !leased.isParking) services.keeper.lose(leased, result.code)
  } catch (error) {
    leased.throwIfRefused()
    throw error
  }
  leased.throwIfRefused()
}
