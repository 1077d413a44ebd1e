/** Makes, trims and removes the records of streams. A chunk is written together with its stream. */
import { frameChunkKey, liveFramesKey, summaryKey } from '../../model/blob-keys.ts'
import { FRAME_CHUNK_MAX, FRAME_MAX, FRAME_TOTAL_BYTES, FRAME_TRIM_COUNT } from '../../limits.ts'
import type { Execution } from '../../model/records.ts'
import type { Stream } from '../../model/stream-schema.ts'
import type { Tx } from '../../tx.ts'
import { frameChunkId } from '../../rules/stream-ids.ts'

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

/** Removes the oldest chunks while the stream has more than it keeps. The newest chunk stays. The caller puts the stream. */
export function trimStream(tx: Tx, stream: Stream): void {
  for (let removed = 0; removed < FRAME_TRIM_COUNT && isOverLimit(stream); removed++) {
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

function isOverLimit(stream: Stream): boolean {
  if (stream.size > FRAME_TOTAL_BYTES || stream.next - stream.first > FRAME_MAX) return true
  return stream.nextChunk - stream.firstChunk > FRAME_CHUNK_MAX
}

/**
 * Removes a stream as far as there is room beside `reserve`; true once nothing is left. Every call writes the stream, so that
 * an interrupted removal continues where it stopped.
 */
export function removeStream(tx: Tx, streamId: string, reserve: number): boolean {
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
