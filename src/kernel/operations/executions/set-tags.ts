/** Adds, changes and removes tags, in any phase. A tag named without a value is removed. */
import { TAG_COUNT_MAX } from '../../limits.ts'
import type { ExecutionId, Tag } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { areSameTags, mergeTags } from '../../rules/tags.ts'
import type { Tx } from '../../tx.ts'

export interface SetTagsInput {
  readonly executionId: ExecutionId
  readonly set: readonly Tag[]
  readonly remove: readonly string[]
}

export type SetTagsResult =
  { readonly kind: 'set'; readonly tags: Tag[] } | Refused<'execution_not_found' | 'retention_over' | 'invalid_input'>

export function setTags(tx: Tx, input: SetTagsInput): SetTagsResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (execution.removed !== undefined) return refused('retention_over', { executionId: execution.id })
  const tags = mergeTags(execution.tags, input.set, input.remove)
  if (tags.length > TAG_COUNT_MAX) return refused('invalid_input', { executionId: execution.id, limit: TAG_COUNT_MAX })

  if (areSameTags(tags, execution.tags)) return { kind: 'set', tags }
  execution.tags = tags
  tx.put(execution)
  tx.emit('tags_set', execution, {})
  return { kind: 'set', tags }
}
