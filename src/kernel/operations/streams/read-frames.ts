/** Reads the stream of an execution: frames from a position on, the newest live frames, and the summary if it has changed. */
import { frameChunkKey, liveFramesKey, summaryKey } from '../../model/blob-keys.ts'
import { FRAME_PAGE_BYTES, FRAME_PAGE_CHUNKS } from '../../limits.ts'
import type { ExecutionId, Instant } from '../../model/records.ts'
import type { FrameChunk, LiveTail, Stream, StreamSummary } from '../../model/stream-schema.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { scopeOf } from '../../rules/journal-ids.ts'
import { frameChunkId } from '../../rules/stream-ids.ts'
import type { Tx } from '../../tx.ts'

export interface ReadFramesInput {
  readonly executionId: ExecutionId
  /** The first chunk to read; absent: no frames. */
  readonly chunk?: number | undefined
  /** Sends the newest live frames if there is one with a higher number. Absent: not at all. */
  readonly liveAfter?: number | undefined
  /** Sends the summary if it has a higher version. Absent: not at all. */
  readonly summaryAfter?: number | undefined
}

/** One chunk, and the position of its frames among the blobs of the reply. */
export interface ChunkView {
  readonly chunk: FrameChunk
  readonly framesBlob: number | undefined
}

export interface FramesPage {
  readonly kind: 'frames'
  /** Identifies the life of the execution together with its creation: frames of another one have other positions. */
  readonly life: number
  readonly createdAt: Instant
  /** The latest attempt that was started; 0: none. */
  readonly attempt: number
  readonly isEnded: boolean
  /** The sequence of the oldest durable frame that is kept, and of the next one. */
  readonly first: number
  readonly next: number
  readonly chunks: ChunkView[]
  /** The first chunk that was not read. */
  readonly nextChunk: number
  /** Whether there are further chunks. */
  readonly hasMore: boolean
  readonly live: LiveTail | undefined
  readonly liveBlob: number | undefined
  readonly summary: StreamSummary | undefined
  readonly summaryBlob: number | undefined
  readonly at: Instant
}

export type ReadFramesResult = FramesPage | Refused<'execution_not_found'>

export function readFrames(tx: Tx, input: ReadFramesInput): ReadFramesResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  const { journal, createdAt } = execution
  const stream = journal?.hasStreams === true ? tx.get('stream', scopeOf(execution.id, journal)) : undefined
  const chunks: ChunkView[] = []
  const from = Math.max(input.chunk ?? 1, stream?.firstChunk ?? 1)
  const nextChunk = stream === undefined || input.chunk === undefined ? from : readChunks(tx, stream, from, chunks)
  const summary = stream?.summary
  const isSummaryNew = summary !== undefined && summary.version > (input.summaryAfter ?? Infinity)
  const live = stream?.live
  const isLiveNew = stream !== undefined && stream.nextLive - 1 > (input.liveAfter ?? Infinity)
  return {
    kind: 'frames',
    life: journal?.life ?? 0,
    createdAt,
    attempt: execution.attempt?.number ?? 0,
    isEnded: execution.state.phase === 'ended',
    first: stream?.first ?? 1,
    next: stream?.next ?? 1,
    chunks,
    nextChunk,
    hasMore: stream !== undefined && input.chunk !== undefined && nextChunk < stream.nextChunk,
    live,
    liveBlob: isLiveNew && live !== undefined ? tx.send(liveFramesKey(stream.id), live.size) : undefined,
    summary,
    summaryBlob: isSummaryNew && stream !== undefined ? tx.send(summaryKey(stream.id), summary.size) : undefined,
    at: tx.now,
  }
}

/** Adds chunks up to the size of a page, and returns the number of the first one that was left out. A lost chunk is skipped. */
export function readChunks(tx: Tx, stream: Stream, from: number, chunks: ChunkView[]): number {
  const end = Math.min(stream.nextChunk, from + FRAME_PAGE_CHUNKS)
  const ids: string[] = []
  for (let number = from; number < end; number++) ids.push(frameChunkId(stream.id, number))
  let size = 0
  for (const chunk of tx.getMany('frame_chunk', ids)) {
    size = size + chunk.size
    if (chunks.length > 0 && size > FRAME_PAGE_BYTES) return chunk.number
    chunks.push({ chunk, framesBlob: tx.send(frameChunkKey(chunk.id), chunk.size) })
  }
  return end
}
