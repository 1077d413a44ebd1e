import type { Consumer } from '../api/types.ts'

/** Which events a consumer or a webhook wants, in words. */
export function filterWords({ filter, namespace: own }: Pick<Consumer, 'filter' | 'namespace'>): string {
  const { types, namespace, task, lane, tag, storeWide = false } = filter
  const parts = [
    types === undefined ? 'all types' : types.join(', ').replaceAll('_', ' '),
    namespace === undefined ? 'all namespaces' : namespace !== own && `namespace ${namespace}`,
    task !== undefined && `task ${task}`,
    lane !== undefined && `lane ${lane}`,
    tag !== undefined && `tag ${tag.name}:${tag.value}`,
    storeWide && 'and those of no namespace',
  ]
  return parts.filter((part) => part !== false).join(' · ')
}
