/**
 * `ctx.inbox`: the signals of one name, one after the other, without parking. Each is taken from its mailbox under the fence once
 * the handler is done with it, so it is neither lost nor given again by a retry.
 */
import type { InboxMessage } from '../../client/define/frames.ts'
import { checkSignalName } from '../../client/checks/signal-names.ts'
import { validate } from '../../client/define/validation.ts'
import { invalidInput } from '../../client/checks/names.ts'
import { concerns } from '../../client/streams/stream-source.ts'
import { ADMISSION_LEVEL, levelTooLow } from '../../stores/level/store-level.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { errorFields } from '../../runtime/index.ts'
import type { Log } from '../../runtime/index.ts'
import { UnfitInputError, decodeHeld } from '../lease/held-value.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import type { HandlerRun } from '../steps/handler-run.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import type { StreamServices } from './stream-services.ts'

/** The interval of reads without a wake-up. */
const SWEEP_MS = 1_000

export class Inboxes {
  readonly #leased: LeasedExecution
  readonly #services: StreamServices & { readonly log: Log }
  readonly #run: HandlerRun
  readonly #open = new Set<string>()

  constructor(leased: LeasedExecution, services: StreamServices & { readonly log: Log }, run: HandlerRun) {
    this.#leased = leased
    this.#services = services
    this.#run = run
  }

  async *messages(given: string): AsyncGenerator<InboxMessage, void, undefined> {
    const name = checkSignalName(given, 'inbox')
    const tooLow = levelTooLow(this.#services.batcher.store, ADMISSION_LEVEL, 'An inbox')
    if (tooLow !== undefined) throw tooLow
    if (this.#open.has(name)) {
      throw invalidInput('inbox', `The inbox '${name}' is read already: one loop at a time reads an inbox.`)
    }
    this.#open.add(name)
    const news = new News(this.#leased, this.#services)
    let takenTo = 0
    try {
      for (;;) {
        news.forget()
        const message = await this.#next(name, takenTo)
        if (message === undefined) {
          await news.wait()
          this.#run.throwIfStopping()
          continue
        }
        takenTo = message.sequence
        if (message.isValid) yield message
      }
    } finally {
      news.close()
      this.#open.delete(name)
    }
  }

  /** Takes what the handler is done with, and returns the next message; undefined if there is none. */
  async #next(name: string, takenTo: number): Promise<(InboxMessage & { readonly isValid: boolean }) | undefined> {
    const { signals, blobs } = await this.#take(name, takenTo, 1)
    const [view] = signals
    if (view === undefined) return undefined
    const { signal, payloadBlob } = view
    const { sequence, key, source, at } = signal
    const { value, isValid } = await this.#parse(name, sequence, () =>
      decodeHeld(this.#leased, signal.payload, blobs[payloadBlob ?? -1]),
    )
    const done = async () => {
      await this.#take(name, sequence, 0)
    }
    return { name, value, sequence, key, by: source.identity, at, done, isValid }
  }

  async #take(name: string, takenTo: number, limit: number) {
    const { id: executionId, partition, claimed } = this.#leased
    const input = { executionId, fence: claimed.fence, name, takenTo, limit }
    return await this.#run.call(async () => {
      const call = () => this.#services.batcher.run(partition, 'takeSignals', input)
      const { result, blobs } = await retryUntilAnswered(this.#services, this.#leased, call)
      if (result.kind === 'refused') throw this.#run.refusalOf(result)
      return { signals: result.signals, blobs }
    })
  }

  /** A message that does not fit the schema of the task is passed over: no attempt could handle it. */
  async #parse(name: string, sequence: number, decode: () => unknown): Promise<{ value: unknown; isValid: boolean }> {
    try {
      const schema = this.#leased.task.handler.task.signals[name]
      return { value: await validate(schema, decode(), 'invalid_payload', name), isValid: true }
    } catch (error) {
      if (error instanceof UnfitInputError) throw error
      if (!(error instanceof EngineError) && !(error instanceof SyntaxError)) throw error
      const fields = { executionId: this.#leased.id, inbox: name, sequence, ...errorFields(error) }
      this.#services.log.warn(fields, 'a message does not fit the schema of its signal; passing over it')
      return { value: undefined, isValid: false }
    }
  }
}

/** Waits until an execution may have got a signal, or its handler is aborted. */
class News {
  readonly #leased: LeasedExecution
  readonly #services: StreamServices
  readonly #stopListening: () => void
  #hasNews = false
  #wake: () => void = () => undefined

  constructor(leased: LeasedExecution, services: StreamServices) {
    this.#leased = leased
    this.#services = services
    const { id, partition } = leased
    this.#stopListening = services.batcher.store.onWake(
      (wake) => {
        if (wake.partition === partition && concerns(wake, id)) this.#tell()
      },
      { eventsOf: partition },
    )
  }

  forget(): void {
    this.#hasNews = false
  }

  async wait(): Promise<void> {
    const { signal } = this.#leased
    if (this.#hasNews || signal.aborted) return
    const tell = () => this.#tell()
    const timer = this.#services.runtime.after(SWEEP_MS, tell)
    signal.addEventListener('abort', tell, { once: true })
    await new Promise<void>((resolve) => (this.#wake = resolve))
    signal.removeEventListener('abort', tell)
    timer.cancel()
  }

  close(): void {
    this.#stopListening()
  }

  #tell(): void {
    this.#hasNews = true
    this.#wake()
  }
}
