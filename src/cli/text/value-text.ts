/** Formats inputs and results. Bytes have no JSON and are shown in base64. */

/** Converts a value for a JSON document: bytes become `{ "base64": … }`. */
export function valueForJson(value: unknown): unknown {
  return value instanceof Uint8Array ? { base64: base64Of(value) } : value
}

/** Formats a value as indented JSON. */
export function valueText(value: unknown): string {
  return JSON.stringify(valueForJson(value), null, 2)
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
