import { publicFlowStates } from '../../kernel/index.ts'
import type { FlowCalls } from '../flows/flow-calls.ts'
import { FLOW_QUERY_KEYS } from '../flows/flow-options.ts'
import type { FlowQuery } from '../flows/flow-options.ts'
import { summariseFlow } from '../flows/flow-description.ts'
import type { FlowSummary } from '../flows/flow-description.ts'
import { mergePages } from './merged-pages.ts'
import type { Page, PageOptions } from './merged-pages.ts'
import { checkNamespace, checkOptions, checkTagQuery, checkTaskName, invalidInput, show } from '../checks/names.ts'

export interface ListFlowsOptions extends FlowQuery, PageOptions {}

const LIST_FLOWS_KEYS = [...FLOW_QUERY_KEYS, 'limit', 'cursor'] as const satisfies readonly (keyof ListFlowsOptions)[]

export type FlowPage = Page<FlowSummary>

/** Flows of all partitions, newest first. */
export async function listFlows(
  calls: FlowCalls,
  partitionCount: number,
  options: ListFlowsOptions,
): Promise<FlowPage> {
  checkOptions(options, LIST_FLOWS_KEYS, "{ state: 'failed', limit: 20 }")
  const { limit, cursor, ...query } = options
  checkQuery(query)
  return await mergePages(partitionCount, { limit, cursor }, async (partition, count, from) => {
    const step = await calls.listFlowsStep(partition, query, count, from)
    return { items: step.flows.map(summariseFlow), cursor: step.cursor }
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
