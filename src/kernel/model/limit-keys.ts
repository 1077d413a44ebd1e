/**
 * The keys of limits as the store has them. Namespaces are a boundary: each has its own keys, so the work of one takes no permit of
 * another's and cancels nothing of it. Keys of the default namespace are stored as they are.
 */
import { DEFAULT_NAMESPACE } from './task-class.ts'

/** Follows the namespace. Neither a namespace nor a key contains control characters. */
const AFTER_NAMESPACE = '\u001e'

export interface NamedKey {
  readonly namespace: string
  readonly key: string
}

export function storedKey({ namespace, key }: NamedKey): string {
  return namespace === DEFAULT_NAMESPACE ? key : namespace + AFTER_NAMESPACE + key
}

export function parseStoredKey(stored: string): NamedKey {
  const end = stored.indexOf(AFTER_NAMESPACE)
  if (end === -1) return { namespace: DEFAULT_NAMESPACE, key: stored }
  return { namespace: stored.substring(0, end), key: stored.substring(end + AFTER_NAMESPACE.length) }
}
