/** Lists and counts executions over all partitions, in bounded steps. */
import { oneOf, shape } from '../../options/shape.ts'
import { LIST_PAGE_MAX, publicStates, taskOfClass } from '../../kernel/index.ts'
import type { Position, PublicState } from '../../kernel/index.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Session } from '../session.ts'
import { summarise } from '../executions/description.ts'
import type { ExecutionSummary } from '../executions/description.ts'
import { mergePages, pageOptions } from './merged-pages.ts'
import type { Page, PageOptions } from './merged-pages.ts'
import { checkLane, checkNamespace, checkTagQuery, checkTaskName, invalidInput, show } from '../checks/names.ts'

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

export interface ListOptions extends ListQuery, PageOptions {}

const listOptions = shape<ListOptions>()("{ state: 'failed', limit: 20 }", {
  ...pageOptions.checks,
  lane: checkLane,
  task: checkTaskName,
  state: oneOf(publicStates),
  tag: checkTagQuery,
  namespace: checkNamespace,
  createdFrom: checkInstant,
  createdTo: checkInstant,
})

export type ExecutionPage = Page<ExecutionSummary>

export interface LaneSummary {
  readonly lane: string
  readonly tasks: readonly string[]
  readonly counts: Readonly<Partial<Record<PublicState, number>>>
}

/** Steps per partition when counting, of 200 queues each. */
const COUNT_STEPS_MAX = 50

export async function listExecutions(session: Session, options: ListOptions): Promise<ExecutionPage> {
  const { limit, cursor, ...query } = listOptions(options)
  const { executionPartitions, indexedTags } = session.settings
  const namespace = session.listed(query.namespace)
  const tag = query.tag && { ...query.tag, indexed: indexedTags.includes(query.tag.name) }
  return await mergePages(executionPartitions, { limit, cursor }, async (partition, count, from) => {
    const input = { ...query, namespace, tag, limit: Math.min(count, LIST_PAGE_MAX), cursor: from }
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
        for (const className of found.classes) sum.tasks.add(taskOfClass(className))
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

function checkInstant(value: unknown, field: string): number {
  if (Number.isSafeInteger(value)) return value as number
  throw invalidInput(field, `${field} is ${show(value)}, but must be milliseconds since the epoch.`)
}
