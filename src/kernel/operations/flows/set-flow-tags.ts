/** Adds, changes and removes the tags of a flow. */
import { flowSubject } from '../../model/events.ts'
import { TAG_COUNT_MAX } from '../../limits.ts'
import type { FlowId, Tag } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { areSameTags, mergeTags } from '../../rules/tags.ts'
import type { Tx } from '../../tx.ts'
import { findFlow, flowNotFound } from '../../lifecycle/flows/flow-guards.ts'

export interface SetFlowTagsInput {
  readonly flowId: FlowId
  readonly set: readonly Tag[]
  readonly remove: readonly string[]
}

export type SetFlowTagsResult =
  { readonly kind: 'set'; readonly tags: Tag[] } | Refused<'flow_not_found' | 'retention_over' | 'invalid_input'>

export function setFlowTags(tx: Tx, input: SetFlowTagsInput): SetFlowTagsResult {
  const flow = findFlow(tx, input.flowId)
  if (flow === undefined) return flowNotFound(input.flowId)
  if (flow.removedAt !== undefined) return refused('retention_over', { flowId: flow.id })
  const tags = mergeTags(flow.tags, input.set, input.remove)
  if (tags.length > TAG_COUNT_MAX) return refused('invalid_input', { flowId: flow.id, limit: TAG_COUNT_MAX })
  if (areSameTags(tags, flow.tags)) return { kind: 'set', tags }

  flow.tags = tags
  flow.version = flow.version + 1
  tx.put(flow)
  tx.emit('tags_set', flowSubject(flow), {})
  return { kind: 'set', tags }
}
