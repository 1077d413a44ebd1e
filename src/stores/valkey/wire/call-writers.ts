/** Writers of calls that are under way at the same time. A buffer is used again, so that a call allocates nothing for its bytes. */
import { CallWriter } from './call-writer.ts'
import type { FunctionCall } from './call-writer.ts'

/** Writers that are kept for later calls. */
const KEPT_MAX = 16
/** A writer whose buffer has grown beyond this is not kept. */
const KEPT_BYTES_MAX = 262_144

export class CallWriters {
  readonly #free: CallWriter[] = []

  /** Writes a call and sends it. */
  async send<T>(write: (writer: CallWriter) => FunctionCall, send: (call: FunctionCall) => Promise<T>): Promise<T> {
    const writer = this.#free.pop() ?? new CallWriter()
    const reply = await send(write(writer))
    // A server that has answered has read the call. The bytes of a call that failed may still be about to be sent.
    if (this.#free.length < KEPT_MAX && writer.capacity <= KEPT_BYTES_MAX) this.#free.push(writer)
    return reply
  }
}
