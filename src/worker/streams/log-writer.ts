/**
 * Keeps the lines of `ctx.log` with their execution. A line costs no call of its own: lines are sent in the batch that ends the
 * run or parks it, and at the latest a second after they were written. A line never delays or fails its handler.
 */
import { FramePacker, isFullChunk } from '../../client/streams/frame-codec.ts'
import type { PackedFrame } from '../../client/streams/frame-codec.ts'
import { logLevels, packLogLine } from '../../client/streams/log-line.ts'
import type { LogLineLevel } from '../../client/streams/log-line.ts'
import { FRAME_APPEND_BYTES, FRAME_APPEND_COUNT } from '../../kernel/index.ts'
import type { AppendLogLinesInput } from '../../kernel/index.ts'
import { errorFields } from '../../runtime/index.ts'
import type { Log, LogFields, Timer } from '../../runtime/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import { ADMISSION_LEVEL } from '../../stores/level/store-level.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import type { RetryServices } from '../store/retry-until-answered.ts'

/** Which lines are kept: those from a level on, or none. */
export const keptLevels = [...logLevels, 'none'] as const
export type KeptLevel = (typeof keptLevels)[number]

export interface LogServices extends RetryServices {
  readonly batcher: Batcher
  readonly log: Log
  readonly keptLevel: KeptLevel
}

/** The longest time that a line waits for others. */
const LINE_HOLD_MS = 1_000
/** Lines are sent at once when they have so many bytes. */
const SEND_BYTES = 32_768
/** Lines that wait, and bytes of them; further ones are counted and not kept. */
const WAITING_LINES_MAX = FRAME_APPEND_COUNT
const WAITING_BYTES_MAX = FRAME_APPEND_BYTES

interface WaitingLine extends PackedFrame {
  readonly at: number
}

export class LogWriter {
  readonly #leased: LeasedExecution
  readonly #services: LogServices
  readonly #leastLevel: number
  #waiting: WaitingLine[] = []
  #waitingBytes = 0
  /** Lines that there was no room for since the last append. */
  #droppedCount = 0
  #appendCount = 0
  /** The chunk that may be extended, and its number. */
  #packer: FramePacker | undefined
  #chunk: number | undefined
  #timer: Timer | undefined
  #sending: Promise<void> | undefined
  #isRefused: boolean

  constructor(leased: LeasedExecution, services: LogServices) {
    this.#leased = leased
    this.#services = services
    this.#leastLevel = keptLevels.indexOf(services.keptLevel)
    this.#isRefused = services.batcher.store.level < ADMISSION_LEVEL
  }

  add(level: LogLineLevel, fields: LogFields, message: string, step: string | undefined): void {
    if (this.#isRefused || logLevels.indexOf(level) < this.#leastLevel) return
    const line = packLogLine(level, message, step, fields)
    const { byteLength } = line.bytes
    if (this.#waiting.length >= WAITING_LINES_MAX || this.#waitingBytes + byteLength > WAITING_BYTES_MAX) {
      this.#droppedCount += 1
      return
    }
    this.#push(line)
    if (this.#waitingBytes >= SEND_BYTES) this.send()
    else this.#timer ??= this.#services.runtime.after(LINE_HOLD_MS, () => this.send())
  }

  /** Sends what waits, in the batch of this turn. */
  send(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    if (this.#waiting.length > 0) this.#sending ??= this.#sendAll()
  }

  /** Sends what waits. Resolves once it is stored, or was given up. Undefined if there is nothing. */
  finish(): Promise<void> | undefined {
    this.send()
    return this.#sending
  }

  #push(line: PackedFrame): void {
    this.#waiting.push({ ...line, at: this.#services.runtime.monotonic() })
    this.#waitingBytes += line.bytes.byteLength
  }

  /** Never rejects. */
  async #sendAll(): Promise<void> {
    try {
      while (this.#waiting.length > 0 && !this.#isRefused) await this.#appendNext()
    } catch (error) {
      this.#isRefused = true
      const { id: executionId } = this.#leased
      this.#services.log.warn(
        { executionId, ...errorFields(error) },
        'could not keep the log lines of an attempt; its further lines are not kept',
      )
    }
    if (this.#isRefused) this.#waiting = []
    this.#sending = undefined
  }

  async #appendNext(): Promise<void> {
    const lines = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    this.#noteDropped(lines)
    const { batcher, runtime } = this.#services
    const { packer, extend } = this.#pack(lines)
    const call = () => {
      const ageMs = extend === undefined ? Math.max(0, Math.round(runtime.monotonic() - packer.begunAt)) : undefined
      const frames = { blob: 0, size: packer.size, encoding: 'bytes' } as const
      const input: AppendLogLinesInput = {
        executionId: this.#leased.id,
        fence: this.#leased.claimed.fence,
        append: this.#appendCount + 1,
        chunk: { extend, count: packer.count, newCount: lines.length, frames, ageMs },
      }
      return batcher.run(this.#leased.partition, 'appendLogLines', input, [packer.packed])
    }
    const { result } = await retryUntilAnswered(this.#services, this.#leased, call)
    if (result.kind === 'refused') {
      // The next holder has begun its own lines, or the execution is removed.
      this.#isRefused = true
      return
    }
    this.#appendCount += 1
    this.#packer = packer
    this.#chunk = result.chunk
  }

  #noteDropped(lines: WaitingLine[]): void {
    if (this.#droppedCount === 0) return
    const text = `${this.#droppedCount} lines were not kept: more were written than the store accepted meanwhile`
    this.#droppedCount = 0
    lines.push({ ...packLogLine('warn', text, undefined, {}), at: this.#services.runtime.monotonic() })
  }

  /** Extends the open chunk while it is small, else begins a new one. */
  #pack(lines: readonly WaitingLine[]): { readonly packer: FramePacker; readonly extend: number | undefined } {
    const open = this.#packer
    const isExtended = open !== undefined && this.#chunk !== undefined && !isFullChunk(open)
    const packer = isExtended ? open.copy() : new FramePacker(lines[0]?.at ?? 0)
    for (const line of lines) packer.add(line, line.at)
    return { packer, extend: isExtended ? this.#chunk : undefined }
  }
}
