/**
 * Appends frames to the stream of an execution, and replaces its live frames and its summary. Fenced by the lease, and
 * idempotent by the number of the append. Frames come packed: the kernel knows how many there are, never what they say.
 */
import { frameChunkKey, liveFramesKey, summaryKey } from '../../model/blob-keys.ts'
import { expectAbsent } from '../../lifecycle/expect-absent.ts'
import { newStream, trimStream } from '../../lifecycle/journal/stream-records.ts'
import { refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import type { ExecutionId, Fence, Instant } from '../../model/records.ts'
import type { Stream } from '../../model/stream-schema.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { journalOf, scopeOf } from '../../rules/journal-ids.ts'
import { frameChunkId } from '../../rules/stream-ids.ts'
import type { BlobInput, Tx } from '../../tx.ts'

/** Durable frames: a new chunk, or the last chunk of this holder with further frames behind those that it had. */
export interface ChunkInput {
  /** The chunk to extend; absent: a new one. */
  readonly extend?: number | undefined
  /** Its frames, those that it had included, and how many of them are new. */
  readonly count: number
  readonly newCount: number
  readonly frames: BlobInput
}

export interface LiveInput {
  /** The newest live frames of this holder, and how many of all its live frames were not appended before. */
  readonly count: number
  readonly newCount: number
  readonly frames: BlobInput
}

export interface SummaryInput {
  /** The version that the document was computed from; 0: there was none. */
  readonly from: number
  readonly document: BlobInput
}

export interface AppendFramesInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  /** Appends of one lease are numbered from 1, and made one after the other. */
  readonly append: number
  readonly chunk?: ChunkInput | undefined
  readonly live?: LiveInput | undefined
  readonly summary?: SummaryInput | undefined
}

export type AppendFramesResult =
  | {
      readonly kind: 'appended' | 'already_appended'
      /** The sequence of the next durable frame. */
      readonly next: number
      /** The chunk that this holder may extend. */
      readonly chunk: number | undefined
      readonly summaryVersion: number
      readonly at: Instant
    }
  /** The summary has another version than the document was computed from. Nothing was appended. */
  | { readonly kind: 'summary_changed'; readonly version: number }
  | LeaseRefusal
  | Refused<'execution_not_found' | 'invalid_input'>

export function appendFrames(tx: Tx, input: AppendFramesInput): AppendFramesResult {
  const { executionId, fence, append } = input
  const execution = tx.get('execution', executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId })
  const refusal = refuseUnlessHeld(tx, execution, fence)
  if (refusal !== undefined) return refusal
  const id = scopeOf(execution.id, execution.journal)
  const existing = tx.get('stream', id)
  const stream = existing ?? newStream(id, execution)
  const { writer } = stream
  const isSameWriter = writer.epoch === fence.epoch
  if (isSameWriter && append <= writer.append) return resultOf(stream, 'already_appended', tx.now)
  if (append !== (isSameWriter ? writer.append : 0) + 1) return refused('invalid_input', { executionId })
  const extended = input.chunk?.extend
  if (extended !== undefined && (!isSameWriter || writer.chunk !== extended)) {
    return refused('invalid_input', { executionId })
  }
  const version = stream.summary?.version ?? 0
  if (input.summary !== undefined && input.summary.from !== version) return { kind: 'summary_changed', version }

  if (existing === undefined) expectAbsent(tx, 'stream', id)
  const base = isSameWriter ? writer.base : stream.next
  const chunk = input.chunk === undefined ? writer.chunk : appendChunk(tx, stream, input.chunk, fence)
  if (input.live !== undefined) replaceLive(tx, stream, input.live, fence, base)
  if (input.summary !== undefined) replaceSummary(tx, stream, input.summary, fence)
  const openChunk = isSameWriter || input.chunk !== undefined ? chunk : undefined
  stream.writer = { epoch: fence.epoch, append, chunk: openChunk, base }
  trimStream(tx, stream)
  tx.put(stream)
  if (execution.journal?.hasStreams !== true) {
    journalOf(execution).hasStreams = true
    tx.put(execution)
  }
  return resultOf(stream, 'appended', tx.now)
}

function resultOf(stream: Stream, kind: 'appended' | 'already_appended', at: Instant): AppendFramesResult {
  const { next, writer, summary } = stream
  return { kind, next, chunk: writer.chunk, summaryVersion: summary?.version ?? 0, at }
}

/** Returns the number of the chunk. */
function appendChunk(tx: Tx, stream: Stream, input: ChunkInput, { attempt }: Fence): number {
  const { extend, count, newCount, frames } = input
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
  const at = existing?.at ?? tx.now
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

function replaceLive(tx: Tx, stream: Stream, input: LiveInput, { attempt }: Fence, base: number): void {
  const { count, newCount, frames } = input
  replaceBlob(tx, liveFramesKey(stream.id), frames, stream.live !== undefined)
  stream.nextLive = stream.nextLive + newCount
  stream.live = { attempt, first: stream.nextLive - count, count, size: frames.size, at: tx.now, base }
}

function replaceSummary(tx: Tx, stream: Stream, { from, document }: SummaryInput, { attempt }: Fence): void {
  replaceBlob(tx, summaryKey(stream.id), document, stream.summary !== undefined)
  stream.summary = { version: from + 1, size: document.size, attempt, at: tx.now }
}

/** A blob is never overwritten, so the earlier one is removed first. */
function replaceBlob(tx: Tx, key: string, { blob }: BlobInput, exists: boolean): void {
  if (exists) tx.forget(key)
  tx.keep(key, blob)
}
