/** Lists and counts over all partitions, put together from the short steps that a partition answers. */
import { LIST_PAGE_MAX, publicStates } from '../kernel/index.ts'
import type { Execution, Position, PublicState } from '../kernel/index.ts'
import { EngineError } from '../stores/engine-error.ts'
import { LIST_QUERY_KEYS } from './calls.ts'
import type { Calls, ListQuery } from './calls.ts'
import { summarise } from './description.ts'
import type { ExecutionSummary } from './description.ts'
import { checkLane, checkNamespace, checkOptions, checkTagQuery, checkTaskName, invalidInput, show } from './names.ts'

export interface ListOptions extends ListQuery {
  /** At most this many; 50 unless given. */
  readonly limit?: number
  readonly cursor?: string
}

const LIST_KEYS = [...LIST_QUERY_KEYS, 'limit', 'cursor'] as const satisfies readonly (keyof ListOptions)[]

export interface ExecutionPage {
  readonly items: readonly ExecutionSummary[]
  /** Where to go on. A page may be short and still have one. */
  readonly cursor: string | undefined
}

export interface LaneSummary {
  readonly lane: string
  readonly tasks: readonly string[]
  readonly counts: Readonly<Partial<Record<PublicState, number>>>
}

const LIMIT_DEFAULT = 50
/** Steps that one call of `list` takes in one partition before it answers with a short page. */
const STEPS_MAX = 25
/** Steps that counting takes in one partition: 200 queues each. */
const COUNT_STEPS_MAX = 50

interface PartitionPage {
  readonly executions: readonly Execution[]
  /** Where the next step begins; undefined at the end. */
  readonly next: Position | undefined
}

export async function listExecutions(
  calls: Calls,
  partitionCount: number,
  options: ListOptions,
): Promise<ExecutionPage> {
  checkOptions(options, LIST_KEYS, "{ state: 'failed', limit: 20 }")
  const { limit = LIMIT_DEFAULT, cursor, ...query } = options
  if (!Number.isInteger(limit) || limit < 1 || limit > LIST_PAGE_MAX) {
    throw invalidInput('limit', `limit is ${show(limit)}, but must be a whole number from 1 to ${LIST_PAGE_MAX}.`)
  }
  checkQuery(query)
  const from = cursor === undefined ? undefined : decodePosition(cursor)
  const pages = await Promise.all(
    Array.from({ length: partitionCount }, (_, partition) => pageOf(calls, partition, query, limit, from)),
  )
  // Where a partition stopped short, nothing older than that point may be shown from the others yet.
  const horizon = pages
    .map((page) => page.next)
    .filter((next) => next !== undefined)
    .reduce<Position | undefined>(newest, undefined)
  const merged = pages
    .flatMap((page) => page.executions)
    .filter((execution) => horizon === undefined || compare(positionOf(execution), horizon) >= 0)
    .sort((a, b) => compare(positionOf(b), positionOf(a)))
  const shown = merged.slice(0, limit)
  const last = shown.at(-1)
  const end = merged.length > limit && last !== undefined ? positionOf(last) : horizon
  return { items: shown.map(summarise), cursor: end === undefined ? undefined : encodePosition(end) }
}

async function pageOf(
  calls: Calls,
  partition: number,
  query: ListQuery,
  limit: number,
  from: Position | undefined,
): Promise<PartitionPage> {
  const executions: Execution[] = []
  let next = from
  for (let step = 0; step < STEPS_MAX; step++) {
    const result = await calls.listStep(partition, query, limit - executions.length, next)
    executions.push(...result.executions)
    next = result.cursor
    if (next === undefined || executions.length >= limit) break
  }
  return { executions, next }
}

export async function countLanes(
  calls: Calls,
  partitionCount: number,
  lane: string | undefined,
): Promise<LaneSummary[]> {
  if (lane !== undefined) checkLane(lane)
  const lanes = new Map<string, { tasks: Set<string>; counts: Partial<Record<PublicState, number>> }>()
  for (let partition = 0; partition < partitionCount; partition++) {
    let cursor: Position | undefined
    for (let step = 0; step < COUNT_STEPS_MAX; step++) {
      const result = await calls.countStep(partition, lane, cursor)
      for (const found of result.lanes) {
        const sum = lanes.get(found.lane) ?? { tasks: new Set<string>(), counts: {} }
        for (const task of found.classes) sum.tasks.add(task)
        for (const { state, count } of found.counts) sum.counts[state] = (sum.counts[state] ?? 0) + count
        lanes.set(found.lane, sum)
      }
      cursor = result.cursor
      if (cursor === undefined) break
    }
  }
  return [...lanes]
    .map(([name, { tasks, counts }]) => ({ lane: name, tasks: [...tasks].sort(), counts }))
    .sort((a, b) => (a.lane < b.lane ? -1 : 1))
}

function checkQuery(query: ListQuery): void {
  if (query.lane !== undefined) checkLane(query.lane)
  if (query.task !== undefined) checkTaskName(query.task)
  if (query.namespace !== undefined) checkNamespace(query.namespace)
  if (query.tag !== undefined) checkTagQuery(query.tag)
  for (const field of ['createdFrom', 'createdTo'] as const) {
    const instant = query[field]
    if (instant !== undefined && !Number.isSafeInteger(instant)) {
      throw invalidInput(field, `${field} is ${show(instant)}, but must be milliseconds since the epoch.`)
    }
  }
  if (query.state !== undefined && !publicStates.includes(query.state)) {
    throw invalidInput('state', `state is ${show(query.state)}, but must be one of ${publicStates.join(', ')}.`)
  }
}

function positionOf(execution: Execution): Position {
  return { score: execution.createdAt, id: execution.id }
}

function compare(a: Position, b: Position): number {
  return a.score - b.score || ((a.id ?? '') < (b.id ?? '') ? -1 : (a.id ?? '') > (b.id ?? '') ? 1 : 0)
}

function newest(a: Position | undefined, b: Position): Position {
  return a === undefined || compare(a, b) < 0 ? b : a
}

function encodePosition(position: Position): string {
  return `l1.${position.score.toString(36)}.${position.id ?? ''}`
}

function decodePosition(cursor: string): Position {
  const match = /^l1\.([0-9a-z]+)\.([0-9a-f-]+)$/.exec(cursor)
  if (match === null) throw new EngineError('invalid_cursor', { field: 'cursor' })
  return { score: parseInt(match[1] ?? '', 36), id: match[2] }
}
