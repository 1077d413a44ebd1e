/** Which tenant's executions a background pass may touch. A missing value never matches. */
import type { Execution } from './records.ts'

export interface TenantFilter {
  readonly namespace?: string | undefined
  readonly tag?: { readonly name: string; readonly value: string } | undefined
}

export function matchesFilter(execution: Execution, filter: TenantFilter | undefined): boolean {
  if (filter === undefined) return true
  if (filter.namespace !== undefined && filter.namespace !== execution.namespace) return false
  const wanted = filter.tag
  if (wanted === undefined) return true
  for (const tag of execution.tags) if (tag.name === wanted.name && tag.value === wanted.value) return true
  return false
}
