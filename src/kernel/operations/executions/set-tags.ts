/** Adds tags, changes them, and removes those named with no value. In any phase: tags are labels, not behaviour. */
import { TAG_COUNT_MAX } from '../../limits.ts'
import type { ExecutionId, Tag } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface SetTagsInput {
  readonly executionId: ExecutionId
  readonly set: readonly Tag[]
  readonly remove: readonly string[]
}

export type SetTagsResult =
  { readonly kind: 'set'; readonly tags: Tag[] } | Refused<'execution_not_found' | 'invalid_input'>

export function setTags(tx: Tx, input: SetTagsInput): SetTagsResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  const tags = mergeTags(execution.tags, input.set, input.remove)
  if (tags.length > TAG_COUNT_MAX) return refused('invalid_input', { executionId: execution.id, limit: TAG_COUNT_MAX })

  if (areSameTags(tags, execution.tags)) return { kind: 'set', tags }
  execution.tags = tags
  tx.put(execution)
  tx.emit('tags_set', execution, {})
  return { kind: 'set', tags }
}

export function areSameTags(a: readonly Tag[], b: readonly Tag[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) {
    const one = a[i]
    const other = b[i]
    if (one?.name !== other?.name || one?.value !== other?.value || one?.indexed !== other?.indexed) return false
  }
  return true
}

/** Tags stay in the order of their names, so that equal tags are stored alike. */
export function mergeTags(current: readonly Tag[], set: readonly Tag[], remove: readonly string[]): Tag[] {
  const tags: Tag[] = []
  for (const tag of current) if (!remove.includes(tag.name)) insertTag(tags, tag)
  for (const tag of set) insertTag(tags, tag)
  return tags
}

function insertTag(tags: Tag[], tag: Tag): void {
  const copy: Tag = { name: tag.name, value: tag.value, indexed: tag.indexed }
  let place = 0
  while (place < tags.length) {
    const other = tags[place]
    if (other === undefined || other.name >= tag.name) break
    place = place + 1
  }
  if (tags[place]?.name === tag.name) tags[place] = copy
  else tags.splice(place, 0, copy)
}
