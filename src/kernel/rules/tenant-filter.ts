/** Which tenant's executions a background pass may touch. A missing value never matches. */
import type { Tag } from '../model/records.ts'

export interface TenantFilter {
  readonly namespace?: string | undefined
  readonly tag?: { readonly name: string; readonly value: string } | undefined
}

/** What belongs to a tenant: an execution or a flow. */
export interface Tenanted {
  readonly namespace: string
  readonly tags: Tag[]
}

export function matchesFilter(record: Tenanted, filter: TenantFilter | undefined): boolean {
  if (filter === undefined) return true
  if (filter.namespace !== undefined && filter.namespace !== record.namespace) return false
  const wanted = filter.tag
  if (wanted === undefined) return true
  for (const tag of record.tags) if (tag.name === wanted.name && tag.value === wanted.value) return true
  return false
}
