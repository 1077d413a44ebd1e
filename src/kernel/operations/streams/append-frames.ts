/**
 * Appends frames to the stream of an execution, and replaces its live frames and its summary. Fenced by the lease, and
 * idempotent by the number of the append. Frames come packed: the kernel knows how many there are, never what they say.
 */
import { liveFramesKey, summaryKey } from '../../model/blob-keys.ts'
import { expectAbsent } from '../../lifecycle/expect-absent.ts'
import { appendChunk, frameLimits, newStream, replaceBlob, trimStream } from '../../lifecycle/journal/stream-records.ts'
import type { ChunkInput } from '../../lifecycle/journal/stream-records.ts'
import { refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal } from '../../lifecycle/fence.ts'
import type { ExecutionId, Fence, Instant } from '../../model/records.ts'
import type { Stream } from '../../model/stream-schema.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { journalOf, scopeOf } from '../../rules/journal-ids.ts'
import type { BlobInput, Tx } from '../../tx.ts'

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
  trimStream(tx, stream, frameLimits)
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
