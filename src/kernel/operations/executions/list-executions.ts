/** Lists executions by their attributes, newest first, from the most selective index. Pages may be short. */
import { CREATED_INDEX, firingsIndex, laneIndex, tagIndex } from '../../model/indexes.ts'
import { LIST_PAGE_MAX, LIST_SCAN_COUNT } from '../../limits.ts'
import type { Execution, Instant } from '../../model/records.ts'
import { publicState } from '../../model/public-state.ts'
import type { PublicState } from '../../model/public-state.ts'
import type { Range, Tx } from '../../tx.ts'
import type { Position } from '../../model/order.ts'

export interface ListInput {
  readonly namespace?: string | undefined
  readonly lane?: string | undefined
  readonly task?: string | undefined
  readonly state?: PublicState | undefined
  readonly tag?: { readonly name: string; readonly value: string; readonly indexed: boolean } | undefined
  /** The id of the schedule that created them. */
  readonly scheduleId?: string | undefined
  readonly createdFrom?: Instant | undefined
  readonly createdTo?: Instant | undefined
  readonly cursor?: Position | undefined
  readonly limit: number
}

export interface ListResult {
  readonly kind: 'listed'
  readonly executions: Execution[]
  /** Where the next page begins. Absent on the last page. */
  readonly cursor: Position | undefined
  readonly at: Instant
}

export function listExecutions(tx: Tx, input: ListInput): ListResult {
  const page = tx.scan(listRange(input), 'execution')
  const limit = Math.max(1, Math.min(input.limit, LIST_PAGE_MAX))
  const executions: Execution[] = []
  for (const execution of page) {
    if (!matchesListing(execution, input)) continue
    executions.push(execution)
    if (executions.length === limit) break
  }
  const last = executions.length === limit ? executions[executions.length - 1] : page[page.length - 1]
  const isLast = page.length < LIST_SCAN_COUNT && (last === undefined || last.id === page[page.length - 1]?.id)
  const cursor = isLast || last === undefined ? undefined : { score: last.createdAt, id: last.id }
  return { kind: 'listed', executions, cursor, at: tx.now }
}

/** The index that a listing reads: newest first, from the end of an earlier page. */
export function listRange(input: ListInput): Range {
  return {
    index: indexFor(input),
    from: input.cursor ?? (input.createdTo === undefined ? undefined : { score: input.createdTo }),
    to: input.createdFrom,
    reverse: true,
    limit: LIST_SCAN_COUNT,
  }
}

/** All are ordered by creation, so a cursor means the same in each. */
function indexFor(input: ListInput): string {
  if (input.scheduleId !== undefined) return firingsIndex(input.scheduleId)
  if (input.tag?.indexed === true) return tagIndex(input.tag.name, input.tag.value)
  if (input.lane !== undefined && input.state !== undefined && input.state !== 'waiting') {
    return laneIndex(input.lane, input.state)
  }
  return CREATED_INDEX
}

/** Whether an execution has the attributes that a listing asks for. Its index limits the time of creation. */
export function matchesListing(execution: Execution, input: Omit<ListInput, 'cursor' | 'limit'>): boolean {
  if (input.namespace !== undefined && execution.namespace !== input.namespace) return false
  if (input.scheduleId !== undefined && execution.schedule?.id !== input.scheduleId) return false
  if (input.lane !== undefined && execution.lane !== input.lane) return false
  if (input.task !== undefined && execution.task !== input.task) return false
  if (input.state !== undefined && publicState(execution.state) !== input.state) return false
  const wanted = input.tag
  if (wanted === undefined) return true
  for (const tag of execution.tags) if (tag.name === wanted.name && tag.value === wanted.value) return true
  return false
}
