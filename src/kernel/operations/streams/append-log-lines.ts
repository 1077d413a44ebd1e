/**
 * Appends log lines of a handler to the log of its execution, which is a stream of its own. Accepted from the latest claim, also
 * after its lease has ended: the last lines of an attempt that was lost say the most. Idempotent by the number of the append.
 */
import { expectAbsent } from '../../lifecycle/expect-absent.ts'
import { isCurrent } from '../../lifecycle/fence.ts'
import { appendChunk, logLimits, newStream, trimStream } from '../../lifecycle/journal/stream-records.ts'
import type { ChunkInput } from '../../lifecycle/journal/stream-records.ts'
import type { ExecutionId, Fence } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { journalOf, scopeOf } from '../../rules/journal-ids.ts'
import { logIdIn } from '../../rules/stream-ids.ts'
import type { Tx } from '../../tx.ts'

export interface AppendLogLinesInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  /** Appends of one lease are numbered from 1, and made one after the other. */
  readonly append: number
  readonly chunk: ChunkInput
}

export type AppendLogLinesResult =
  | {
      readonly kind: 'appended' | 'already_appended'
      /** The chunk that this holder may extend. */
      readonly chunk: number | undefined
    }
  | Refused<'execution_not_found' | 'stale_lease' | 'invalid_input'>

export function appendLogLines(tx: Tx, input: AppendLogLinesInput): AppendLogLinesResult {
  const { executionId, fence, append, chunk: added } = input
  const execution = tx.get('execution', executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId })
  if (execution.removed !== undefined || execution.journal?.isRemoving === true) {
    return refused('execution_not_found', { executionId })
  }
  if (!isCurrent(execution, fence)) return refused('stale_lease', { executionId })
  const id = logIdIn(scopeOf(execution.id, execution.journal))
  const existing = tx.get('stream', id)
  const log = existing ?? newStream(id, execution)
  const { writer } = log
  const isSameWriter = writer.epoch === fence.epoch
  if (isSameWriter && append <= writer.append) return { kind: 'already_appended', chunk: writer.chunk }
  if (append !== (isSameWriter ? writer.append : 0) + 1) return refused('invalid_input', { executionId })
  if (added.extend !== undefined && (!isSameWriter || writer.chunk !== added.extend)) {
    return refused('invalid_input', { executionId })
  }

  if (existing === undefined) expectAbsent(tx, 'stream', id)
  const base = isSameWriter ? writer.base : log.next
  const chunk = appendChunk(tx, log, added, fence)
  log.writer = { epoch: fence.epoch, append, chunk, base }
  trimStream(tx, log, logLimits)
  tx.put(log)
  if (execution.journal?.hasStreams !== true) {
    journalOf(execution).hasStreams = true
    tx.put(execution)
  }
  return { kind: 'appended', chunk }
}
