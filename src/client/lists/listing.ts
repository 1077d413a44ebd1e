/** Lists and counts executions over all partitions, in bounded steps. */
import { optionKeys } from '../checks/exhaustive.ts'
import { LIST_PAGE_MAX, publicStates } from '../../kernel/index.ts'
import type { Position, PublicState } from '../../kernel/index.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Session } from '../session.ts'
import { summarise } from '../executions/description.ts'
import type { ExecutionSummary } from '../executions/description.ts'
import { mergePages } from './merged-pages.ts'
import type { Page, PageOptions } from './merged-pages.ts'
import {
  checkLane,
  checkNamespace,
  checkOptions,
  checkTagQuery,
  checkTaskName,
  invalidInput,
  show,
} from '../checks/names.ts'

export interface ListQuery {
  readonly lane?: string
  readonly task?: string
  readonly state?: PublicState
  readonly tag?: { readonly name: string; readonly value: string }
  /** All namespaces unless given. */
  readonly namespace?: string
  readonly createdFrom?: number
  readonly createdTo?: number
}

const LIST_QUERY_KEYS = optionKeys<ListQuery>()([
  'lane',
  'task',
  'state',
  'tag',
  'namespace',
  'createdFrom',
  'createdTo',
])

export interface ListOptions extends ListQuery, PageOptions {}

const LIST_KEYS = optionKeys<ListOptions>()([...LIST_QUERY_KEYS, 'limit', 'cursor'])

export type ExecutionPage = Page<ExecutionSummary>

export interface LaneSummary {
  readonly lane: string
  readonly tasks: readonly string[]
  readonly counts: Readonly<Partial<Record<PublicState, number>>>
}

/** Steps per partition when counting, of 200 queues each. */
const COUNT_STEPS_MAX = 50

export async function listExecutions(session: Session, options: ListOptions): Promise<ExecutionPage> {
  checkOptions(options, LIST_KEYS, "{ state: 'failed', limit: 20 }")
  const { limit, cursor, ...query } = options
  checkQuery(query)
  const { executionPartitions, indexedTags } = session.settings
  const tag = query.tag && { ...query.tag, indexed: indexedTags.includes(query.tag.name) }
  return await mergePages(executionPartitions, { limit, cursor }, async (partition, count, from) => {
    const input = { ...query, tag, limit: Math.min(count, LIST_PAGE_MAX), cursor: from }
    const { result } = await session.runIn(executionPartition(partition), 'listExecutions', input)
    return { items: result.executions.map(summarise), cursor: result.cursor }
  })
}

export async function countLanes(session: Session, lane: string | undefined): Promise<LaneSummary[]> {
  if (lane !== undefined) checkLane(lane)
  const lanes = new Map<string, { tasks: Set<string>; counts: Partial<Record<PublicState, number>> }>()
  for (let partition = 0; partition < session.settings.executionPartitions; partition++) {
    let cursor: Position | undefined
    for (let step = 0; step < COUNT_STEPS_MAX; step++) {
      const { result } = await session.runIn(executionPartition(partition), 'countExecutions', { lane, cursor })
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
