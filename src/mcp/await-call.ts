/** Waits for an execution on behalf of a client that expects the result of its call, not a task. */
import type { ExecutionDescription } from '../client/index.ts'
import type { Runtime } from '../runtime/index.ts'
import { questionsOf } from './questions.ts'
import type { Asked, Question } from './questions.ts'
import { statusText, summaryOf } from './task-view.ts'

export interface AwaitOptions {
  readonly runtime: Runtime
  readonly limitMs: number
  /** Aborts when the client has given up the request. The execution continues. */
  readonly signal: AbortSignal
  readonly canElicit: boolean
  /** Receives what the execution is doing, whenever that changes. */
  readonly onProgress: ((text: string) => Promise<void>) | undefined
}

/** How the wait has ended. */
export type Awaited =
  | { readonly kind: 'ended'; readonly execution: ExecutionDescription }
  | { readonly kind: 'asks'; readonly questions: readonly Question[] }
  | { readonly kind: 'continues'; readonly execution: ExecutionDescription; readonly text: string }

/** Returns at the end of the execution, when it asks a question, or when the time is over. */
export async function awaitExecution(asked: Asked, id: string, options: AwaitOptions): Promise<Awaited> {
  const { runtime, limitMs, signal, canElicit, onProgress } = options
  const limit = new AbortController()
  const timer = runtime.after(limitMs, () => limit.abort())
  const stopped = AbortSignal.any([signal, limit.signal])
  const handle = asked.fabric.execution(id)
  // Taken before the first read, so that no change between the two is missed.
  const cursor = await asked.fabric.currentCursor()
  const changes = handle.events({ cursor, signal: stopped })
  const reporter = onProgress === undefined ? undefined : new SummaryReporter(asked, id, onProgress)
  const watching = reporter?.watch(stopped)
  let isOver = false
  try {
    for (;;) {
      const execution = await asked.fabric.describe(id, { result: true })
      if (execution.outcome !== undefined) return { kind: 'ended', execution }
      const questions = canElicit ? await questionsOf(asked, execution) : []
      if (questions.length > 0) return { kind: 'asks', questions }
      if (isOver || stopped.aborted) return { kind: 'continues', execution, text: await textOf(asked, execution) }
      isOver = (await changes.next()).done === true
    }
  } finally {
    timer.cancel()
    limit.abort()
    await changes.return()
    await watching
    // The watch may have ended before it read what was patched just before the answer.
    if (!signal.aborted) await reporter?.reportLatest()
  }
}

async function textOf(asked: Asked, execution: ExecutionDescription): Promise<string> {
  return await statusText(asked, execution, await summaryOf(asked, execution))
}

/** Reports the versions of a live summary. Progress is an extra, so a failure does not fail the call. */
class SummaryReporter {
  readonly #asked: Asked
  readonly #id: string
  readonly #onProgress: (text: string) => Promise<void>
  #reported: string | undefined

  constructor(asked: Asked, id: string, onProgress: (text: string) => Promise<void>) {
    this.#asked = asked
    this.#id = id
    this.#onProgress = onProgress
  }

  /** Reports each version that it reads, until the signal aborts. */
  async watch(signal: AbortSignal): Promise<void> {
    await this.#attempt(async () => {
      const summaries = this.#asked.fabric.execution(this.#id).summaries({ signal })
      for await (const { document } of summaries) await this.#report(document)
    })
  }

  /** Reports the present version, unless it was reported last. */
  async reportLatest(): Promise<void> {
    await this.#attempt(async () => {
      const latest = await this.#asked.fabric.execution(this.#id).summary()
      if (latest !== undefined) await this.#report(latest.document)
    })
  }

  async #report(document: unknown): Promise<void> {
    const text = JSON.stringify(document)
    if (text === this.#reported) return
    this.#reported = text
    await this.#onProgress(text)
  }

  /** A store may be without streams, and a client may be gone. */
  async #attempt(report: () => Promise<void>): Promise<void> {
    try {
      await report()
    } catch (error) {
      const fields = { executionId: this.#id, error: String(error) }
      this.#asked.fabric.log.debug(fields, 'the summary of an execution was not reported')
    }
  }
}
