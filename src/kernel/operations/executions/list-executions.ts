/** Lists executions by their attributes, newest first, from the most selective index. Pages may be short. */
import { CREATED_INDEX, firingsIndex, laneIndex, membersIndex, tagIndex } from '../../model/indexes.ts'
import { LIST_PAGE_MAX, LIST_SCAN_COUNT } from '../../limits.ts'
import type { Execution, FlowId, Instant } from '../../model/records.ts'
import { publicState } from '../../model/public-state.ts'
import type { PublicState } from '../../model/public-state.ts'
import type { Range, Tx } from '../../tx.ts'
import type { Position } from '../../model/order.ts'

export type OneOrMore<T> = T | readonly T[]

export interface WantedTag {
  readonly name: string
  readonly value: string
  readonly indexed: boolean
}

export interface ListInput {
  readonly namespace?: string | undefined
  readonly lane?: string | undefined
  /** One of several, if several are given. */
  readonly task?: OneOrMore<string> | undefined
  /** One of several, if several are given. */
  readonly state?: OneOrMore<PublicState> | undefined
  /** All of several, if several are given. */
  readonly tag?: OneOrMore<WantedTag> | undefined
  /** The id of the schedule that created them. */
  readonly scheduleId?: string | undefined
  /** Only members of this flow, in the order of their ranks instead of the newest first. */
  readonly flowId?: FlowId | undefined
  /** The beginning of the caller's own id. */
  readonly keyPrefix?: string | undefined
  /** The category of the last failure. */
  readonly error?: string | undefined
  readonly endedFrom?: Instant | undefined
  readonly endedTo?: Instant | undefined
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
  if (input.flowId !== undefined && !tx.has('flow', input.flowId))
    return { kind: 'listed', executions: [], cursor: undefined, at: tx.now }
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
  const cursor = isLast || last === undefined ? undefined : positionIn(input, last)
  return { kind: 'listed', executions, cursor, at: tx.now }
}

/** The index that a listing reads: newest first, from the end of an earlier page. */
export function listRange(input: ListInput): Range {
  if (input.flowId !== undefined) {
    return { index: membersIndex(input.flowId), from: input.cursor, limit: LIST_SCAN_COUNT }
  }
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
  const indexed = listOf(input.tag).find((tag) => tag.indexed)
  if (indexed !== undefined) return tagIndex(indexed.name, indexed.value)
  const [state, ...others] = listOf(input.state)
  if (input.lane !== undefined && state !== undefined && state !== 'waiting' && others.length === 0) {
    return laneIndex(input.lane, state)
  }
  return CREATED_INDEX
}

function positionIn({ flowId }: ListInput, { id, createdAt, member }: Execution): Position {
  return { score: flowId === undefined ? createdAt : (member?.rank ?? 0), id }
}

function listOf<T extends object | string>(given: OneOrMore<T> | undefined): readonly T[] {
  if (given === undefined) return []
  return Array.isArray(given) ? (given as readonly T[]) : [given as T]
}

function isWanted<T extends string>(given: OneOrMore<T> | undefined, value: T): boolean {
  return given === undefined || listOf(given).includes(value)
}

/** Whether an execution has the attributes that a listing asks for. */
export function matchesListing(execution: Execution, input: Omit<ListInput, 'cursor' | 'limit'>): boolean {
  if (input.namespace !== undefined && execution.namespace !== input.namespace) return false
  if (input.scheduleId !== undefined && execution.schedule?.id !== input.scheduleId) return false
  if (input.lane !== undefined && execution.lane !== input.lane) return false
  if (input.flowId !== undefined && execution.member?.flowId !== input.flowId) return false
  if (!isWanted(input.task, execution.task) || !isWanted(input.state, publicState(execution.state))) return false
  if (input.keyPrefix !== undefined && execution.key?.startsWith(input.keyPrefix) !== true) return false
  if (input.error !== undefined && execution.failure?.category !== input.error) return false
  if (!isBetween(execution.createdAt, input.createdFrom, input.createdTo) || !hasEndedBetween(execution, input))
    return false
  return listOf(input.tag).every((wanted) => hasTag(execution, wanted))
}

function hasEndedBetween(
  { state }: Execution,
  { endedFrom, endedTo }: Pick<ListInput, 'endedFrom' | 'endedTo'>,
): boolean {
  if (endedFrom === undefined && endedTo === undefined) return true
  return state.phase === 'ended' && isBetween(state.at, endedFrom, endedTo)
}

function isBetween(at: Instant, from: Instant = -Infinity, to: Instant = Infinity): boolean {
  return at >= from && at <= to
}

function hasTag({ tags }: Execution, wanted: WantedTag): boolean {
  for (const tag of tags) if (tag.name === wanted.name && tag.value === wanted.value) return true
  return false
}
