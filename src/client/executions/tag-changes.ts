import type { Refused, SetFlowTagsResult, SetTagsResult, Tag } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { unwrap } from '../transport/unwrap.ts'
import { checkTagName, checkTagObject, checkTags } from '../checks/names.ts'
import type { Tags } from '../checks/names.ts'

export interface TagChanges {
  readonly set: Tag[]
  readonly remove: string[]
}

/** Splits tags into those to set and those to remove, which are `undefined`. */
export function splitTags(
  tags: Readonly<Record<string, string | undefined>>,
  indexedTags: readonly string[],
): TagChanges {
  checkTagObject(tags)
  const set: Tags = Object.fromEntries(
    Object.entries(tags).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  const remove = Object.keys(tags).filter((name) => tags[name] === undefined)
  for (const name of remove) checkTagName(name)
  return { set: checkTags(set, indexedTags), remove }
}

/** Throws the refusal of a change of tags. */
export function acceptTags(result: SetTagsResult | SetFlowTagsResult, whose: 'execution' | 'flow'): void {
  if (result.kind === 'refused' && result.code === 'invalid_input') throw tooManyTags(result, whose)
  unwrap(result)
}

function tooManyTags({ code, detail }: Refused, whose: 'execution' | 'flow'): EngineError {
  return new EngineError(code, {
    ...detail,
    field: 'tags',
    message: `tags would be more than ${detail.limit} together with those that the ${whose} has: remove some by setting them to undefined.`,
  })
}
