/** JSON merge patch, as RFC 7396 defines it. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Returns the document with the patch applied, and changes neither. */
export function mergePatch(document: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged = new Map(isObject(document) ? Object.entries(document) : [])
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name)
    else merged.set(name, mergePatch(merged.get(name), value))
  }
  return Object.fromEntries(merged)
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
