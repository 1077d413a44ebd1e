/** Formats inputs and results. Bytes have no JSON and are shown in base64. Values are shown to a limited depth. */

/** Levels of a value that a page for a person shows. */
const TEXT_DEPTH_MAX = 20
/** Levels of a value in a JSON document: far more than data has, and few enough for every parser. */
const JSON_DEPTH_MAX = 500

/** Converts a value for a JSON document: bytes become `{ "base64": … }`. */
export function valueForJson(value: unknown): unknown {
  return shallow(value, JSON_DEPTH_MAX)
}

/** Formats a value as indented JSON. */
export function valueText(value: unknown): string {
  return JSON.stringify(shallow(value, TEXT_DEPTH_MAX), null, 2)
}

/** Replaces what lies deeper by a mark. */
function shallow(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Uint8Array) return { base64: base64Of(value) }
  if (depth === 0) return Array.isArray(value) ? '[…]' : '{…}'
  if (Array.isArray(value)) return value.map((item) => shallow(item, depth - 1))
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shallow(item, depth - 1)]))
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
