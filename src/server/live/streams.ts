/**
 * Server-Sent Events. A stream reads its source only as fast as its client takes the data, sends heartbeats while nothing
 * happens, and ends when the client leaves, when it takes nothing for too long, or when the server stops.
 */
import { EngineError } from '../../kernel/engine-error.ts'
import { errorFields } from '../../runtime/index.ts'
import type { Log, Runtime, Timer } from '../../runtime/index.ts'
import { problemOf, publicError } from '../http/problem.ts'

export interface StreamLimits {
  /** Streams that one server has open at most. */
  readonly streams: number
  /** The pause after which a stream sends a heartbeat. */
  readonly heartbeatMs: number
  /** How long a client may leave data untaken before its stream ends. */
  readonly stallMs: number
  /** How long one request may wait for an end at most. */
  readonly waitMs: number
}

export const STREAM_LIMITS: StreamLimits = {
  streams: 10_000,
  heartbeatMs: 15_000,
  stallMs: 60_000,
  waitMs: 60_000,
}

const EVENT_STREAM_TYPE = 'text/event-stream'

export interface StreamMessage {
  /** What a client sends as `Last-Event-ID` to continue after this message. */
  readonly id: string
  readonly event: string
  readonly data: unknown
}

/** Opens the source of a stream. The signal aborts when the stream ends. */
export type StreamSource = (signal: AbortSignal) => AsyncIterator<StreamMessage, void, undefined>

/** Bytes that wait for the client before the source is paused. */
const BUFFER_BYTES = 65_536
const HEARTBEAT = ':\n\n'
/** The source is complete: the client need not connect again. */
const END = 'event: end\ndata: {}\n\n'
/** Asks clients to wait a little before they connect again. */
const PREAMBLE = 'retry: 1000\n\n'

const encoder = new TextEncoder()

/** All streams of one server. */
export class Streams {
  readonly #runtime: Runtime
  readonly #log: Log
  readonly #limits: StreamLimits
  #open = 0

  constructor(runtime: Runtime, log: Log, limits: StreamLimits) {
    this.#runtime = runtime
    this.#log = log
    this.#limits = limits
  }

  /** The number of open streams. */
  get open(): number {
    return this.#open
  }

  /** Starts a stream. `cursor` is where a client continues that connects again before the first message. */
  start(source: StreamSource, options: StreamOptions): Response {
    this.refuseIfFull()
    this.#open += 1
    const stream = new EventStream(source, options, {
      runtime: this.#runtime,
      log: this.#log,
      limits: this.#limits,
      release: () => (this.#open -= 1),
    })
    return new Response(stream.body, { headers: { 'content-type': EVENT_STREAM_TYPE, 'x-accel-buffering': 'no' } })
  }

  /** To be called before the work of preparing a stream. */
  refuseIfFull(): void {
    if (this.#open < this.#limits.streams) return
    throw new EngineError('server_busy', { message: `${this.#limits.streams} streams are open.` })
  }
}

export interface StreamOptions {
  /** Ends the stream. */
  readonly signal: AbortSignal
  readonly requestId: string
  readonly cursor?: string | undefined
}

interface StreamSetting {
  readonly runtime: Runtime
  readonly log: Log
  readonly limits: StreamLimits
  readonly release: () => void
}

class EventStream {
  readonly body: ReadableStream<Uint8Array>
  readonly #abort = new AbortController()
  readonly #source: AsyncIterator<StreamMessage, void, undefined>
  readonly #setting: StreamSetting
  readonly #requestId: string
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #heartbeat: Timer | undefined
  #stall: Timer | undefined
  #resume: (() => void) | undefined
  #isEnded = false

  constructor(source: StreamSource, { signal, requestId, cursor }: StreamOptions, setting: StreamSetting) {
    this.#setting = setting
    this.#requestId = requestId
    signal.addEventListener('abort', () => this.#end(), { once: true, signal: this.#abort.signal })
    this.#source = source(this.#abort.signal)
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.#resume?.(),
        cancel: () => this.#end(),
      },
      { highWaterMark: BUFFER_BYTES, size: (chunk) => chunk.byteLength },
    )
    this.#send(cursor === undefined ? PREAMBLE : `${PREAMBLE}id: ${cursor}\n\n`)
    if (signal.aborted) this.#end()
    else void this.#follow()
  }

  async #follow(): Promise<void> {
    try {
      for (let next = await this.#source.next(); next.done !== true; next = await this.#source.next()) {
        if (!(await this.#hasRoom())) return
        this.#send(textOf(next.value))
      }
      this.#send(END)
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#end()
    }
  }

  /** Waits until the client has taken what was sent. Returns false if the stream ended meanwhile. */
  async #hasRoom(): Promise<boolean> {
    while (!this.#isEnded && (this.#controller?.desiredSize ?? 0) <= 0) {
      this.#stall ??= this.#setting.runtime.after(this.#setting.limits.stallMs, () => this.#cutOff(), {
        background: true,
      })
      await new Promise<void>((resolve) => (this.#resume = resolve))
    }
    this.#stall?.cancel()
    this.#stall = undefined
    return !this.#isEnded
  }

  #cutOff(): void {
    this.#setting.log.info({ requestId: this.#requestId }, 'closed a stream whose client took no data for too long')
    this.#end(true)
  }

  #send(text: string): void {
    if (this.#isEnded) return
    this.#controller?.enqueue(encoder.encode(text))
    this.#heartbeat?.cancel()
    this.#heartbeat = this.#setting.runtime.after(this.#setting.limits.heartbeatMs, () => this.#beat(), {
      background: true,
    })
  }

  /** A client that takes nothing gets no heartbeats either, and is cut off once they have filled its buffer. */
  #beat(): void {
    if ((this.#controller?.desiredSize ?? 0) > 0) this.#send(HEARTBEAT)
    else this.#cutOff()
  }

  /** The status is sent already, so the error is a message of the stream. */
  #fail(thrown: unknown): void {
    if (this.#isEnded) return
    const error = publicError(thrown)
    if (error.code === 'internal_error') {
      this.#setting.log.error({ requestId: this.#requestId, ...errorFields(thrown) }, 'a stream failed')
    }
    this.#send(`event: error\ndata: ${JSON.stringify(problemOf(error, this.#requestId))}\n\n`)
  }

  #end(isCut = false): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#heartbeat?.cancel()
    this.#stall?.cancel()
    this.#abort.abort()
    this.#resume?.()
    void this.#source.return?.().catch(() => undefined)
    try {
      if (isCut) this.#controller?.error(new EngineError('aborted'))
      else this.#controller?.close()
    } catch {
      // The client has cancelled the stream already.
    }
    this.#setting.release()
  }
}

function textOf({ id, event, data }: StreamMessage): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
