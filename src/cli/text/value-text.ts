/** Inputs and results as they are printed. Bytes have no JSON of their own and are shown in base64. */

/** A value for a JSON document: bytes become `{ "base64": … }`. */
export function valueForJson(value: unknown): unknown {
  return value instanceof Uint8Array ? { base64: base64Of(value) } : value
}

/** A value for people: JSON over several lines. Undefined has no text. */
export function valueText(value: unknown): string {
  return JSON.stringify(valueForJson(value), null, 2)
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
