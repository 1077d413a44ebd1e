/** Lists executions over all partitions, in bounded steps. */
import { oneOf, shape, unchecked } from '../../options/shape.ts'
import { scheduleId as idOfSchedule, LIST_PAGE_MAX, publicStates } from '../../kernel/index.ts'
import type { PublicState } from '../../kernel/index.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Session } from '../session.ts'
import { summarise } from '../executions/description.ts'
import type { ExecutionSummary } from '../executions/description.ts'
import { listChildren } from './child-listing.ts'
import { checkScheduleName } from '../define/schedule.ts'
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
  /** Only executions that the schedule of this name has created. */
  readonly schedule?: string
  readonly createdFrom?: number
  readonly createdTo?: number
  /** Only children of the execution with this id or key, in the order in which they were first started. */
  readonly parent?: string
}

export interface ListOptions extends ListQuery, PageOptions {}

const listOptions = shape<ListOptions>()("{ state: 'failed', limit: 20 }", {
  ...pageOptions.checks,
  lane: checkLane,
  task: checkTaskName,
  state: oneOf(publicStates),
  tag: checkTagQuery,
  namespace: checkNamespace,
  schedule: checkScheduleName,
  createdFrom: checkInstant,
  createdTo: checkInstant,
  parent: unchecked<string>(),
})

export type ExecutionPage = Page<ExecutionSummary>

export async function listExecutions(session: Session, options: ListOptions): Promise<ExecutionPage> {
  const { limit, cursor, parent, schedule, ...query } = listOptions(options)
  const { executionPartitions, indexedTags } = session.settings
  const namespace = session.listed(query.namespace)
  const scheduleId = schedule === undefined ? undefined : idOfSchedule(query.namespace ?? session.namespace, schedule)
  const tag = query.tag && { ...query.tag, indexed: indexedTags.includes(query.tag.name) }
  if (parent !== undefined)
    return await listChildren(session, parent, { ...query, namespace, tag, scheduleId }, { limit, cursor })
  return await mergePages(executionPartitions, { limit, cursor }, async (partition, count, from) => {
    const input = { ...query, namespace, tag, scheduleId, limit: Math.min(count, LIST_PAGE_MAX), cursor: from }
    const { result } = await session.runIn(executionPartition(partition), 'listExecutions', input)
    return { items: result.executions.map(summarise), cursor: result.cursor }
  })
}

function checkInstant(value: unknown, field: string): number {
  if (Number.isSafeInteger(value)) return value as number
  throw invalidInput(field, `${field} is ${show(value)}, but must be milliseconds since the epoch.`)
}
