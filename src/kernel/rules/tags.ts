/** Merges and compares the tags of executions and flows. */
import type { Tag } from '../model/records.ts'

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
