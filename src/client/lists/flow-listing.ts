import { optionKeys } from '../checks/exhaustive.ts'
import { LIST_PAGE_MAX, publicFlowStates } from '../../kernel/index.ts'
import type { PublicFlowState } from '../../kernel/index.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Session } from '../session.ts'
import { summariseFlow } from '../flows/flow-description.ts'
import type { FlowSummary } from '../flows/flow-description.ts'
import { mergePages } from './merged-pages.ts'
import type { Page, PageOptions } from './merged-pages.ts'
import { checkNamespace, checkOptions, checkTagQuery, checkTaskName, invalidInput, show } from '../checks/names.ts'

export interface FlowQuery {
  readonly name?: string
  readonly state?: PublicFlowState
  readonly tag?: { readonly name: string; readonly value: string }
  /** All namespaces unless given. */
  readonly namespace?: string
}

const FLOW_QUERY_KEYS = optionKeys<FlowQuery>()(['name', 'state', 'tag', 'namespace'])

export interface ListFlowsOptions extends FlowQuery, PageOptions {}

const LIST_FLOWS_KEYS = optionKeys<ListFlowsOptions>()([...FLOW_QUERY_KEYS, 'limit', 'cursor'])

export type FlowPage = Page<FlowSummary>

/** Lists flows of all partitions, newest first. */
export async function listFlows(session: Session, options: ListFlowsOptions): Promise<FlowPage> {
  checkOptions(options, LIST_FLOWS_KEYS, "{ state: 'failed', limit: 20 }")
  const { limit, cursor, ...query } = options
  checkQuery(query)
  return await mergePages(session.settings.executionPartitions, { limit, cursor }, async (partition, count, from) => {
    const input = { ...query, limit: Math.min(count, LIST_PAGE_MAX), cursor: from }
    const { result } = await session.runIn(executionPartition(partition), 'listFlows', input)
    return { items: result.flows.map(summariseFlow), cursor: result.cursor }
  })
}

function checkQuery({ name, state, tag, namespace }: FlowQuery): void {
  if (name !== undefined) checkTaskName(name, 'name')
  if (namespace !== undefined) checkNamespace(namespace)
  if (tag !== undefined) checkTagQuery(tag)
  if (state !== undefined && !publicFlowStates.includes(state)) {
    throw invalidInput('state', `state is ${show(state)}, but must be one of ${publicFlowStates.join(', ')}.`)
  }
}
