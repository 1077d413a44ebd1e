/** Follows the state of an execution, and reads its result at the end. */
import type { HttpClient } from '../http/http-client.ts'
import type { AnswerOf } from '../http/types.ts'
import { Followed, useFollowed } from './followed.ts'
import type { Following } from './followed.ts'
import { useOf } from './use-of.ts'

type Answer = AnswerOf<'GET', '/v1/executions/{id}/result'>
type Ended = Extract<Answer, { readonly outcome: unknown }>

export interface ExecutionView<Result = unknown> extends Following {
  /** Undefined until it was read. */
  readonly state: Answer['state'] | undefined
  /** Set once it has ended. */
  readonly outcome: Ended['outcome'] | undefined
  /** The result of an execution that has completed. */
  readonly result: Result | undefined
  /** A result of bytes, in base64. */
  readonly resultBytes: string | undefined
  readonly failure: Ended['failure'] | undefined
  /** Why it was cancelled or has expired. */
  readonly reason: string | undefined
}

const NOTHING: ExecutionView = {
  status: 'connecting',
  error: undefined,
  state: undefined,
  outcome: undefined,
  result: undefined,
  resultBytes: undefined,
  failure: undefined,
  reason: undefined,
}

/**
 * Returns the state of an execution as it changes, and its result once it has ended.
 *
 * @example
 * const { state, result } = useExecution<{ text: string }>(api, id)
 * return <p>{result?.text ?? state}</p>
 */
export function useExecution<Result = unknown>(api: HttpClient, id: string | undefined): ExecutionView<Result> {
  return useFollowed(useOf([api, id], () => followExecution(api, id))) as ExecutionView<Result>
}

function followExecution(api: HttpClient, id: string | undefined): Followed<ExecutionView> {
  if (id === undefined) return new Followed<ExecutionView>({ ...NOTHING, status: 'idle' }, undefined)
  return new Followed<ExecutionView>(NOTHING, async (change, signal) => {
    const read = async () => {
      const answer = await api.get('/v1/executions/{id}/result', { params: { id }, signal })
      change((view) => ({ ...view, ...fieldsOf(answer) }))
    }
    const reader = new Reader(read, signal)
    // A read after the stream has opened sees all that the stream does not.
    const asked = { params: { id }, signal: reader.signal, onOpen: () => reader.refresh() }
    for await (const _event of api.events('/v1/executions/{id}/events', asked)) reader.refresh()
    await reader.finish()
  })
}

/** Reads again after each request to do so, but not more than once at a time. */
class Reader {
  readonly #read: () => Promise<void>
  readonly #failed = new AbortController()
  /** Aborts when a read has failed. */
  readonly signal: AbortSignal
  #isStale = false
  #reading: Promise<void> | undefined
  #failure: unknown

  constructor(read: () => Promise<void>, signal: AbortSignal) {
    this.#read = read
    this.signal = AbortSignal.any([signal, this.#failed.signal])
  }

  refresh(): void {
    this.#isStale = true
    this.#reading ??= this.#run()
  }

  /** Reads once more, and throws what a read has thrown. */
  async finish(): Promise<void> {
    if (!this.signal.aborted) this.refresh()
    await this.#reading
    if (this.#failed.signal.aborted) throw this.#failure
  }

  async #run(): Promise<void> {
    try {
      while (this.#isStale) {
        this.#isStale = false
        await this.#read()
      }
    } catch (error) {
      this.#failure = error
      this.#failed.abort()
    } finally {
      this.#reading = undefined
    }
  }
}

function fieldsOf(answer: Answer): Partial<ExecutionView> {
  if (!('outcome' in answer)) return { state: answer.state }
  const { state, outcome, result, resultBytes, failure, reason } = answer
  return { state, outcome, result, resultBytes, failure, reason }
}
