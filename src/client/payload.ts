/** Values to bytes and back. Bytes stay bytes; everything else is JSON. */
import type { BlobInfo, BlobInput, PayloadEncoding } from '../kernel/index.ts'
import { EngineError } from '../stores/engine-error.ts'
import { invalidInput } from './names.ts'

export interface EncodedValue {
  readonly input: BlobInput
  readonly bytes: Uint8Array
}

/** Undefined has no bytes: it is stored as nothing and read back as undefined. */
export function encodeValue(value: unknown, field: string, limitBytes: number): EncodedValue | undefined {
  if (value === undefined) return undefined
  const encoding: PayloadEncoding = value instanceof Uint8Array ? 'bytes' : 'json'
  const bytes = value instanceof Uint8Array ? value : Buffer.from(toJson(value, field))
  if (bytes.byteLength > limitBytes) {
    throw new EngineError('payload_too_large', {
      field,
      limit: limitBytes,
      message: `${field} has ${bytes.byteLength} bytes, the limit is ${limitBytes}.`,
    })
  }
  return { input: { blob: 0, size: bytes.byteLength, encoding }, bytes }
}

function toJson(value: unknown, field: string): string {
  const text = jsonOf(value, field)
  if (text === undefined) throw invalidInput(field, `${field} is a ${typeof value}, which cannot be written as JSON.`)
  return text
}

/** Functions and symbols have no JSON: the answer is then undefined, whatever its declared type says. */
function jsonOf(value: unknown, field: string): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    throw new EngineError('invalid_input', { field, message: `${field} cannot be written as JSON.` }, { cause })
  }
}

export function decodeValue(info: BlobInfo | undefined, bytes: Uint8Array | undefined): unknown {
  if (info === undefined || bytes === undefined) return undefined
  if (info.encoding === 'bytes') return bytes
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))
}
