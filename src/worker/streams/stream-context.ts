/** `ctx.frames`, `ctx.summary` and `ctx.inbox`, and the first two in a step. Created on first use. */
import type { FrameCalls, FrameOptions, FrameSchemas, SummaryCalls } from '../../client/define/frames.ts'
import type { Log } from '../../runtime/index.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import type { HandlerRun } from '../steps/handler-run.ts'
import { FrameWriter } from './frame-writer.ts'
import type { StreamServices } from './stream-services.ts'
import { Inboxes } from './inbox.ts'

export class StreamContext {
  readonly frames: FrameCalls<FrameSchemas>
  readonly summary: SummaryCalls
  readonly writer: FrameWriter
  readonly #inboxes: Inboxes

  constructor(leased: LeasedExecution, services: StreamServices & { readonly log: Log }, run: HandlerRun) {
    this.writer = new FrameWriter(leased, services)
    this.#inboxes = new Inboxes(leased, services, run)
    this.frames = callsOf(leased.task.handler.task.frames, this.writer)
    const { summary } = this.writer
    this.summary = {
      patch: (patch) => handled(this.#patch(patch)),
      read: () => summary.read(),
    }
  }

  /** A bound function, so that handlers can destructure the context. */
  readonly inbox = (name: string) => this.#inboxes.messages(name)

  async #patch(patch: unknown): Promise<void> {
    this.writer.throwIfRefused()
    await this.writer.summary.patch(patch)
  }
}

function callsOf(schemas: FrameSchemas, writer: FrameWriter): FrameCalls<FrameSchemas> {
  const emitters = Object.keys(schemas).map((name) => {
    const emit = (value: unknown, options?: FrameOptions) => handled(writer.write(name, value, options))
    return [name, emit] as const
  })
  const pipe = async (
    name: string,
    values: AsyncIterable<unknown> | Iterable<unknown>,
    options?: FrameOptions,
  ): Promise<number> => {
    let count = 0
    for await (const value of values) {
      await writer.write(name, value, options)
      count += 1
    }
    return count
  }
  return { ...Object.fromEntries(emitters), pipe } as FrameCalls<FrameSchemas>
}

/** Prevents an unhandled rejection if the handler does not await the call. */
function handled<T>(call: Promise<T>): Promise<T> {
  call.catch(() => undefined)
  return call
}
