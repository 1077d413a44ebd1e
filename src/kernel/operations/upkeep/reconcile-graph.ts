/** The indexes of a flow or member. An edge that is missing at one of its members is found at the other. */
import { matchesFilter } from '../../rules/tenant-filter.ts'
import { CREATED_INDEX, FLOWS_INDEX, edgeId, inboundIndex, membersIndex, outboundIndex } from '../../model/indexes.ts'
import type { OwnedIndex, Owners } from './owned-indexes.ts'
import type { Execution, Flow } from '../../model/records.ts'

export const flowOwners: Owners = {
  index: FLOWS_INDEX,
  ownedBy: (tx, flowId, input) => {
    const flow = tx.get('flow', flowId)
    return flow === undefined || !matchesFilter(flow, input.filter) ? [] : [membersOf(flow)]
  },
}

export const memberOwners: Owners = {
  index: CREATED_INDEX,
  ownedBy: (tx, executionId, input) => {
    const execution = tx.get('execution', executionId)
    if (execution?.member === undefined || !matchesFilter(execution, input.filter)) return []
    return [outboundOf(execution), inboundOf(execution)]
  },
}

function membersOf(flow: Flow): OwnedIndex {
  return { name: membersIndex(flow.id), recordOf: (tx, id) => tx.get('execution', id) }
}

function outboundOf(execution: Execution): OwnedIndex {
  return { name: outboundIndex(execution.id), recordOf: (tx, id) => tx.get('edge', edgeId(execution.id, id)) }
}

function inboundOf(execution: Execution): OwnedIndex {
  return { name: inboundIndex(execution.id), recordOf: (tx, id) => tx.get('edge', edgeId(id, execution.id)) }
}
