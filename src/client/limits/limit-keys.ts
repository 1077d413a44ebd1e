/** The stored keys of limits in sentences. */
import { DEFAULT_NAMESPACE, parseStoredKey } from '../../kernel/index.ts'

/** A key as a part of a sentence; an empty text for the use without a key. */
export function keyText(stored: string): string {
  const { namespace, key } = parseStoredKey(stored)
  const name = key === '' ? '' : ` with the key '${key}'`
  return name + namespaceText(namespace)
}

/** A namespace as a part of a sentence; an empty text for the default one. */
export function namespaceText(namespace: string): string {
  return namespace === DEFAULT_NAMESPACE ? '' : ` in the namespace '${namespace}'`
}
