import { oneOf, shape } from '../../options/shape.ts'
import { scheduleId as idOfSchedule, LIST_PAGE_MAX, publicFlowStates } from '../../kernel/index.ts'
import type { PublicFlowState } from '../../kernel/index.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Session } from '../session.ts'
import { summariseFlow } from '../flows/flow-description.ts'
import type { FlowSummary } from '../flows/flow-description.ts'
import { mergePages, pageOptions } from './merged-pages.ts'
import type { Page, PageOptions } from './merged-pages.ts'
import { checkScheduleName } from '../define/schedule.ts'
import { checkNamespace, checkTagQuery, checkTaskName } from '../checks/names.ts'

export interface FlowQuery {
  readonly name?: string
  readonly state?: PublicFlowState
  readonly tag?: { readonly name: string; readonly value: string }
  /** All namespaces unless given. */
  readonly namespace?: string
  /** Only flows that the schedule of this name has started. */
  readonly schedule?: string
}

export interface ListFlowsOptions extends FlowQuery, PageOptions {}

const listFlowsOptions = shape<ListFlowsOptions>()("{ state: 'failed', limit: 20 }", {
  ...pageOptions.checks,
  name: checkTaskName,
  state: oneOf(publicFlowStates),
  tag: checkTagQuery,
  namespace: checkNamespace,
  schedule: checkScheduleName,
})

export type FlowPage = Page<FlowSummary>

/** Lists flows of all partitions, newest first. */
export async function listFlows(session: Session, options: ListFlowsOptions): Promise<FlowPage> {
  const { limit, cursor, schedule, ...query } = listFlowsOptions(options)
  const namespace = session.listed(query.namespace)
  const scheduleId = schedule === undefined ? undefined : idOfSchedule(query.namespace ?? session.namespace, schedule)
  return await mergePages(session.settings.executionPartitions, { limit, cursor }, async (partition, count, from) => {
    const input = { ...query, namespace, scheduleId, limit: Math.min(count, LIST_PAGE_MAX), cursor: from }
    const { result } = await session.runIn(executionPartition(partition), 'listFlows', input)
    return { items: result.flows.map(summariseFlow), cursor: result.cursor }
  })
}
