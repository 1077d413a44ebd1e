/** Reads the log lines that are kept of an execution, from a position on. */
import type { ExecutionId, Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { scopeOf } from '../../rules/journal-ids.ts'
import { logIdIn } from '../../rules/stream-ids.ts'
import type { Tx } from '../../tx.ts'
import { readChunks } from './read-frames.ts'
import type { ChunkView } from './read-frames.ts'

export interface ReadLogLinesInput {
  readonly executionId: ExecutionId
  /** The first chunk to read. */
  readonly chunk: number
}

export interface LogPage {
  readonly kind: 'lines'
  /** Identifies the life of the execution together with its creation: lines of another one have other positions. */
  readonly life: number
  readonly createdAt: Instant
  readonly attempt: number
  readonly isEnded: boolean
  /** The sequence of the oldest line that is kept, and of the next one. */
  readonly first: number
  readonly next: number
  readonly chunks: ChunkView[]
  /** The first chunk that was not read. */
  readonly nextChunk: number
  /** Whether there are further chunks. */
  readonly hasMore: boolean
  readonly at: Instant
}

export type ReadLogLinesResult = LogPage | Refused<'execution_not_found'>

export function readLogLines(tx: Tx, { executionId, chunk }: ReadLogLinesInput): ReadLogLinesResult {
  const execution = tx.get('execution', executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId })
  const { journal, createdAt } = execution
  const log = journal?.hasStreams === true ? tx.get('stream', logIdIn(scopeOf(execution.id, journal))) : undefined
  const chunks: ChunkView[] = []
  const from = Math.max(chunk, log?.firstChunk ?? 1)
  const nextChunk = log === undefined ? from : readChunks(tx, log, from, chunks)
  return {
    kind: 'lines',
    life: journal?.life ?? 0,
    createdAt,
    attempt: execution.attempt?.number ?? 0,
    isEnded: execution.state.phase === 'ended',
    first: log?.first ?? 1,
    next: log?.next ?? 1,
    chunks,
    nextChunk,
    hasMore: log !== undefined && nextChunk < log.nextChunk,
    at: tx.now,
  }
}
