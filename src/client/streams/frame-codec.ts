/**
 * Frames as the bytes of a chunk, one behind the other. A name is written once in a chunk and then referred to by its number.
 * Live frames also say how many durable frames of their writer came before them.
 *
 *     frame  = name, delay, encoding, [before], length, bytes
 *     name   = 0, length, text | number of an earlier name, from 1
 *
 * Numbers are written in base 128, low digits first. The delay is in milliseconds since the chunk was begun.
 */
import { EngineError } from '../../kernel/engine-error.ts'
import { FRAME_CHUNK_BYTES, FRAME_CHUNK_COUNT } from '../../kernel/index.ts'
import type { FrameChunk } from '../../kernel/index.ts'
import type { PayloadEncoding } from '../../kernel/model/base-records.ts'

const ENCODINGS: readonly PayloadEncoding[] = ['json', 'bytes']
const FIRST_BYTES = 512
const NUMBER_BYTES_MAX = 8

export interface PackedFrame {
  readonly name: string
  readonly encoding: PayloadEncoding
  readonly bytes: Uint8Array
}

/** Collects the frames of one chunk. */
export class FramePacker {
  /** When it was begun, on a monotonic clock. */
  readonly begunAt: number
  readonly #names = new Map<string, number>()
  #buffer = Buffer.allocUnsafe(FIRST_BYTES)
  #length = 0
  #count = 0

  constructor(begunAt: number) {
    this.begunAt = begunAt
  }

  get count(): number {
    return this.#count
  }

  get size(): number {
    return this.#length
  }

  /** Returns a packer with the same frames, which may be extended independently. */
  copy(): FramePacker {
    const copy = new FramePacker(this.begunAt)
    for (const [name, number] of this.#names) copy.#names.set(name, number)
    copy.#buffer = Buffer.from(this.packed)
    copy.#length = this.#length
    copy.#count = this.#count
    return copy
  }

  /** `before` is given for live frames. */
  add({ name, encoding, bytes }: PackedFrame, at: number, before?: number): void {
    this.#reserve(bytes.byteLength + 3 * name.length + 6 * NUMBER_BYTES_MAX)
    const known = this.#names.get(name)
    if (known === undefined) {
      this.#names.set(name, this.#names.size + 1)
      this.#number(0)
      this.#bytes(Buffer.from(name))
    } else this.#number(known)
    this.#number(Math.max(0, Math.round(at - this.begunAt)))
    this.#number(ENCODINGS.indexOf(encoding))
    if (before !== undefined) this.#number(before)
    this.#bytes(bytes)
    this.#count += 1
  }

  /** The bytes of all frames so far. Not changed by further frames. */
  get packed(): Uint8Array {
    return this.#buffer.subarray(0, this.#length)
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#buffer.byteLength) return
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#buffer.byteLength, this.#length + size))
    larger.set(this.packed)
    this.#buffer = larger
  }

  #number(value: number): void {
    let rest = value
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#buffer[this.#length++] = (rest % 0x80) | 0x80
    this.#buffer[this.#length++] = rest
  }

  #bytes(bytes: Uint8Array): void {
    this.#number(bytes.byteLength)
    this.#buffer.set(bytes, this.#length)
    this.#length += bytes.byteLength
  }
}

export interface UnpackedFrame {
  readonly name: string
  readonly delayMs: number
  readonly before: number | undefined
  readonly value: unknown
}

/** Reads the frames of a chunk. Throws `corruption` if the bytes are no such frames. */
export function unpackFrames(bytes: Uint8Array, count: number, isLive: boolean): UnpackedFrame[] {
  const reader = new Unpacker(bytes)
  const frames: UnpackedFrame[] = []
  for (let i = 0; i < count; i++) frames.push(reader.frame(isLive))
  return frames
}

class Unpacker {
  readonly #bytes: Buffer
  readonly #names: string[] = []
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  frame(isLive: boolean): UnpackedFrame {
    const known = this.#number()
    const name = known === 0 ? this.#part().toString('utf8') : this.#names[known - 1]
    if (name === undefined) throw damaged()
    if (known === 0) this.#names.push(name)
    const delayMs = this.#number()
    const encoding = ENCODINGS[this.#number()]
    if (encoding === undefined) throw damaged()
    const before = isLive ? this.#number() : undefined
    const part = this.#part()
    return { name, delayMs, before, value: encoding === 'bytes' ? new Uint8Array(part) : jsonOf(part) }
  }

  #number(): number {
    let value = 0
    for (let factor = 1, i = 0; i < NUMBER_BYTES_MAX; i++, factor *= 0x80) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) break
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
    throw damaged()
  }

  #part(): Buffer {
    const end = this.#number() + this.#at
    if (end > this.#bytes.byteLength) throw damaged()
    const part = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return part
  }
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (cause) {
    throw damaged(cause)
  }
}

function damaged(cause?: unknown): EngineError {
  return new EngineError(
    'corruption',
    { message: 'The bytes of a chunk are not the frames that its record counts.' },
    { cause },
  )
}

/** Whether no frame is added to a chunk any more. */
export function isFullChunk({ count, size }: Pick<FrameChunk, 'count' | 'size'>): boolean {
  return count >= FRAME_CHUNK_COUNT || size >= FRAME_CHUNK_BYTES
}
