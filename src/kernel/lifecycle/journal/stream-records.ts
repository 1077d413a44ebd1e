/** Makes, trims and removes the records of streams. A chunk is written together with its stream. */
import { frameChunkKey, liveFramesKey, summaryKey } from '../../model/blob-keys.ts'
import {
  FRAME_CHUNK_MAX,
  FRAME_MAX,
  FRAME_TOTAL_BYTES,
  FRAME_TRIM_COUNT,
  LOG_CHUNK_MAX,
  LOG_LINE_MAX,
  LOG_TOTAL_BYTES,
} from '../../limits.ts'
import type { Execution, Fence } from '../../model/records.ts'
import type { Stream } from '../../model/stream-schema.ts'
import type { BlobInput, Tx } from '../../tx.ts'
import { frameChunkId, logIdIn } from '../../rules/stream-ids.ts'
import { expectAbsent } from '../expect-absent.ts'

/** What a stream keeps at most. */
export interface StreamLimits {
  readonly count: number
  readonly bytes: number
  readonly chunks: number
}

export const frameLimits: StreamLimits = { count: FRAME_MAX, bytes: FRAME_TOTAL_BYTES, chunks: FRAME_CHUNK_MAX }
export const logLimits: StreamLimits = { count: LOG_LINE_MAX, bytes: LOG_TOTAL_BYTES, chunks: LOG_CHUNK_MAX }

/** Items of a stream: a new chunk, or the last chunk of this holder with further items behind those that it had. */
export interface ChunkInput {
  /** The chunk to extend; absent: a new one. */
  readonly extend?: number | undefined
  /** Its items, those that it had included, and how many of them are new. */
  readonly count: number
  readonly newCount: number
  readonly frames: BlobInput
  /** How long ago the first item of a new chunk was written. */
  readonly ageMs?: number | undefined
}

export function newStream(id: string, execution: Execution): Stream {
  return {
    type: 'stream',
    id,
    executionId: execution.id,
    next: 1,
    first: 1,
    nextChunk: 1,
    firstChunk: 1,
    size: 0,
    nextLive: 1,
    writer: { epoch: 0, append: 0, chunk: undefined, base: 1 },
    live: undefined,
    summary: undefined,
  }
}

/** Writes a chunk and counts it in the stream, which the caller puts. Returns the number of the chunk. */
export function appendChunk(tx: Tx, stream: Stream, input: ChunkInput, { attempt }: Fence): number {
  const { extend, count, newCount, frames, ageMs = 0 } = input
  const number = extend ?? stream.nextChunk
  const id = frameChunkId(stream.id, number)
  const existing = extend === undefined ? undefined : tx.get('frame_chunk', id)
  if (extend === undefined) {
    expectAbsent(tx, 'frame_chunk', id)
    stream.nextChunk = number + 1
  }
  // A chunk that was lost is begun again with the frames that its holder still has.
  const first = existing?.first ?? stream.next - (count - newCount)
  stream.size = stream.size - (existing?.size ?? 0) + frames.size
  stream.next = stream.next + newCount
  const at = existing?.at ?? tx.now - ageMs
  tx.put({
    type: 'frame_chunk',
    id,
    executionId: stream.executionId,
    number,
    attempt,
    first,
    count,
    size: frames.size,
    at,
  })
  replaceBlob(tx, frameChunkKey(id), frames, extend !== undefined)
  return number
}

/** A blob is never overwritten, so the earlier one is removed first. */
export function replaceBlob(tx: Tx, key: string, { blob }: BlobInput, exists: boolean): void {
  if (exists) tx.forget(key)
  tx.keep(key, blob)
}

/** Removes the oldest chunks while the stream has more than it keeps. The newest chunk stays. The caller puts the stream. */
export function trimStream(tx: Tx, stream: Stream, limits: StreamLimits): void {
  for (let removed = 0; removed < FRAME_TRIM_COUNT && isOverLimit(stream, limits); removed++) {
    if (stream.firstChunk >= stream.nextChunk - 1) return
    const id = frameChunkId(stream.id, stream.firstChunk)
    const chunk = tx.get('frame_chunk', id)
    if (chunk !== undefined) {
      removeChunk(tx, id)
      stream.size = Math.max(0, stream.size - chunk.size)
      stream.first = Math.max(stream.first, chunk.first + chunk.count)
    }
    stream.firstChunk = stream.firstChunk + 1
  }
}

function isOverLimit(stream: Stream, limits: StreamLimits): boolean {
  if (stream.size > limits.bytes || stream.next - stream.first > limits.count) return true
  return stream.nextChunk - stream.firstChunk > limits.chunks
}

/** Removes what one life of an execution has streamed and logged; see `removeStream`. */
export function removeStreams(tx: Tx, scope: string, reserve: number): boolean {
  return removeStream(tx, scope, reserve) && removeStream(tx, logIdIn(scope), reserve)
}

/**
 * Removes a stream as far as there is room beside `reserve`; true once nothing is left. Every call writes the stream, so that
 * an interrupted removal continues where it stopped.
 */
function removeStream(tx: Tx, streamId: string, reserve: number): boolean {
  if (tx.room() <= reserve + 1) return false
  const stream = tx.get('stream', streamId)
  if (stream === undefined) return true
  while (stream.firstChunk < stream.nextChunk) {
    if (tx.room() <= reserve + 1) {
      tx.put(stream)
      return false
    }
    const id = frameChunkId(stream.id, stream.firstChunk)
    if (tx.has('frame_chunk', id)) removeChunk(tx, id)
    stream.firstChunk = stream.firstChunk + 1
  }
  tx.remove('stream', streamId)
  if (stream.live !== undefined) tx.forget(liveFramesKey(streamId))
  if (stream.summary !== undefined) tx.forget(summaryKey(streamId))
  return true
}

function removeChunk(tx: Tx, id: string): void {
  tx.remove('frame_chunk', id)
  tx.forget(frameChunkKey(id))
}
