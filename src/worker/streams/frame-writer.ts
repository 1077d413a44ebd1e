/**
 * Writes the frames and the summary of one run of a handler. What is written while an append is in flight, or soon after one,
 * goes out together with the next, so a fast handler makes few calls. Appends are made one after the other, numbered and
 * fenced: a lost reply repeats nothing, and a former holder appends nothing.
 */
import type { FrameOptions, FrameSchemas } from '../../client/define/frames.ts'
import { validate } from '../../client/define/validation.ts'
import { encodeValue } from '../../client/checks/payload.ts'
import { invalidInput } from '../../client/checks/names.ts'
import { FramePacker, isFullChunk } from '../../client/streams/frame-codec.ts'
import type { PackedFrame } from '../../client/streams/frame-codec.ts'
import {
  FRAME_APPEND_BYTES,
  FRAME_APPEND_COUNT,
  FRAME_BYTES,
  LIVE_FRAME_BYTES,
  LIVE_FRAME_MAX,
} from '../../kernel/index.ts'
import type { AppendFramesInput } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { ADMISSION_LEVEL, levelTooLow } from '../../stores/level/store-level.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import { SummaryWriter } from './summary-writer.ts'
import type { StreamServices } from './stream-services.ts'

/** The shortest time between two appends. */
const APPEND_INTERVAL_MS = 2
/** Frames, and bytes of them, that wait for their append before a handler has to wait for room. */
export const WAITING_FRAMES_MAX = 2 * FRAME_APPEND_COUNT
export const WAITING_BYTES_MAX = 2 * FRAME_APPEND_BYTES

interface WaitingFrame extends PackedFrame {
  readonly at: number
  /** For a live frame, how many durable frames of this writer come before it. */
  readonly before: number | undefined
}

/** One append, and what it leaves behind once it is stored. */
interface Append {
  readonly input: AppendFramesInput
  readonly blobs: readonly Uint8Array[]
  readonly stored: (chunk: number | undefined, summaryVersion: number) => void
}

export class FrameWriter {
  readonly summary: SummaryWriter
  readonly #leased: LeasedExecution
  readonly #services: StreamServices
  readonly #schemas: FrameSchemas
  readonly #waiting: WaitingFrame[] = []
  #waitingBytes = 0
  /** Durable frames that were written by this run. */
  #durableCount = 0
  #appendCount = 0
  /** The chunk that may be extended, and its number. */
  #packer: FramePacker | undefined
  #chunk: number | undefined
  /** The newest live frames. */
  #live: WaitingFrame[] = []
  #sentAt = -Infinity
  #isScheduled = false
  #sending: Promise<void> | undefined
  #failure: Error | undefined
  #changed: (() => void)[] = []

  constructor(leased: LeasedExecution, services: StreamServices) {
    this.#leased = leased
    this.#services = services
    this.#schemas = leased.task.handler.task.frames
    this.summary = new SummaryWriter(leased, services, () => this.#schedule())
  }

  /** The error that keeps frames from being stored, unless that is the loss of the lease. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** Resolves once there is room for the frame. */
  async write(name: string, value: unknown, { live = false }: FrameOptions = {}): Promise<void> {
    const schema = this.#schemas[name]
    const { task } = this.#leased.claimed
    if (schema === undefined) throw invalidInput('frame', `Task '${task}' declares no frame '${name}'.`)
    await validate(schema, value, 'invalid_output', `frame '${name}'`)
    const encoded = encodeValue(value, `frame '${name}'`, FRAME_BYTES)
    if (encoded === undefined) throw invalidInput('frame', `frame '${name}' is undefined, which cannot be written.`)
    this.throwIfRefused()
    this.#add({ name, encoding: encoded.input.encoding, bytes: encoded.bytes }, live)
    this.#schedule()
    while (this.#waiting.length > WAITING_FRAMES_MAX || this.#waitingBytes > WAITING_BYTES_MAX) {
      await this.#change()
      this.throwIfRefused()
    }
  }

  /** Throws if nothing can be written any more. */
  throwIfRefused(): void {
    const { store } = this.#services.batcher
    this.#failure ??= levelTooLow(store, ADMISSION_LEVEL, 'Writing frames')
    if (this.#failure !== undefined) throw this.#failure
    this.#leased.throwIfRefused()
  }

  /** Resolves once everything written so far is stored, and rejects if it cannot be. Undefined if nothing is pending. */
  storePending(): Promise<void> | undefined {
    return this.#hasWork || this.#failure !== undefined ? this.#store() : undefined
  }

  async #store(): Promise<void> {
    while (this.#hasWork) {
      this.throwIfRefused()
      this.#sending ??= this.#send()
      await this.#sending
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  get #hasWork(): boolean {
    return this.#waiting.length > 0 || this.summary.isChanged || this.#sending !== undefined
  }

  #add(frame: PackedFrame, isLive: boolean): void {
    if (!isLive) this.#durableCount += 1
    const before = isLive ? this.#durableCount : undefined
    // The bytes belong to the handler, which may change them.
    const bytes = frame.encoding === 'bytes' ? new Uint8Array(frame.bytes) : frame.bytes
    this.#waiting.push({ ...frame, bytes, at: this.#services.runtime.monotonic(), before })
    this.#waitingBytes += bytes.byteLength
  }

  /** Sends at the end of this turn, or once the interval since the last append is over. */
  #schedule(): void {
    if (this.#isScheduled || this.#sending !== undefined || !this.#hasWork) return
    this.#isScheduled = true
    const { runtime } = this.#services
    const start = () => {
      this.#isScheduled = false
      if (this.#sending === undefined && this.#hasWork) this.#sending = this.#send()
    }
    const waitMs = this.#sentAt + APPEND_INTERVAL_MS - runtime.monotonic()
    if (waitMs > 0) runtime.after(waitMs, start)
    else runtime.soon(start)
  }

  /** Never rejects: a failure is reported to the next call that writes or waits. */
  async #send(): Promise<void> {
    try {
      if (this.#leased.refusal === undefined && this.#failure === undefined) await this.#appendNext()
    } catch (error) {
      if (this.#leased.refusal === undefined) this.#failure = asError(error)
    }
    if (this.#leased.refusal !== undefined || this.#failure !== undefined) this.#drop()
    this.#sending = undefined
    for (const changed of this.#changed.splice(0)) changed()
    this.#schedule()
  }

  async #appendNext(): Promise<void> {
    const append = this.#nextAppend()
    const { batcher, keeper, runtime } = this.#services
    this.#sentAt = runtime.monotonic()
    const call = () => batcher.run(this.#leased.partition, 'appendFrames', append.input, append.blobs)
    const { result } = await retryUntilAnswered(this.#services, this.#leased, call)
    switch (result.kind) {
      case 'appended':
      case 'already_appended':
        append.stored(result.chunk, result.summaryVersion)
        return
      case 'summary_changed':
        // Only damage can cause it: no other holder writes at the same time. The document is read and merged again.
        await this.summary.reload()
        return
      case 'refused':
        if (result.code === 'invalid_input')
          throw new EngineError('corruption', { message: 'The store has other frames of this run.' })
        if (!this.#leased.isParking) keeper.lose(this.#leased, result.code)
        this.#leased.throwIfRefused()
        throw new EngineError(result.code, result.detail)
    }
  }

  #nextAppend(): Append {
    const taken = this.#takeable()
    const blobs: Uint8Array[] = []
    const durable = taken.filter(({ before }) => before === undefined)
    const lively = taken.filter(({ before }) => before !== undefined)
    const packed = durable.length === 0 ? undefined : this.#pack(durable)
    const live = lively.length === 0 ? undefined : newestOf([...this.#live, ...lively])
    const summary = this.summary.next()
    const input: AppendFramesInput = {
      executionId: this.#leased.id,
      fence: this.#leased.claimed.fence,
      append: this.#appendCount + 1,
      chunk: packed && {
        extend: packed.extend,
        count: packed.packer.count,
        newCount: durable.length,
        frames: blobIn(blobs, packed.packer.packed),
      },
      live: live && { count: live.length, newCount: lively.length, frames: blobIn(blobs, packLive(live)) },
      summary: summary && { from: summary.from, document: { ...blobIn(blobs, summary.bytes), encoding: 'json' } },
    }
    const stored = (chunk: number | undefined, summaryVersion: number) => {
      this.#appendCount += 1
      this.#waiting.splice(0, taken.length)
      for (const { bytes } of taken) this.#waitingBytes -= bytes.byteLength
      if (packed !== undefined) this.#packer = packed.packer
      if (live !== undefined) this.#live = live
      if (summary !== undefined) this.summary.stored(summary, summaryVersion)
      this.#chunk = chunk
    }
    return { input, blobs, stored }
  }

  #takeable(): WaitingFrame[] {
    const taken: WaitingFrame[] = []
    let size = 0
    for (const frame of this.#waiting) {
      size += frame.bytes.byteLength
      if (taken.length === FRAME_APPEND_COUNT || (taken.length > 0 && size > FRAME_APPEND_BYTES)) break
      taken.push(frame)
    }
    return taken
  }

  /** Extends the open chunk while it is small, else begins a new one. Leaves the open one as it is until the append is stored. */
  #pack(frames: readonly WaitingFrame[]): { readonly packer: FramePacker; readonly extend: number | undefined } {
    const open = this.#packer
    const isExtended = open !== undefined && this.#chunk !== undefined && !isFullChunk(open)
    const packer = isExtended ? open.copy() : new FramePacker(frames[0]?.at ?? 0)
    for (const frame of frames) packer.add(frame, frame.at)
    return { packer, extend: isExtended ? this.#chunk : undefined }
  }

  #drop(): void {
    this.#waiting.length = 0
    this.#waitingBytes = 0
    this.summary.drop()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#changed.push(resolve))
  }
}

function newestOf(frames: readonly WaitingFrame[]): WaitingFrame[] {
  const newest = frames.slice(-LIVE_FRAME_MAX)
  let size = newest.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
  while (newest.length > 1 && size > LIVE_FRAME_BYTES) size -= newest.shift()?.bytes.byteLength ?? 0
  return newest
}

function packLive(frames: readonly WaitingFrame[]): Uint8Array {
  const packer = new FramePacker(frames[0]?.at ?? 0)
  for (const frame of frames) packer.add(frame, frame.at, frame.before)
  return packer.packed
}

function blobIn(blobs: Uint8Array[], bytes: Uint8Array) {
  return { blob: blobs.push(bytes) - 1, size: bytes.byteLength, encoding: 'bytes' } as const
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('The frames could not be stored.', { cause: error })
}
