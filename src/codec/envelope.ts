/**
 * A sealed value as it is stored: a mark, the length of the header, the header as JSON, and the bytes that the last codec returned.
 * The header says what the value is bound to; the codecs authenticate it.
 */
import { EngineError } from '../kernel/engine-error.ts'
import type { PayloadEncoding } from '../kernel/model/base-records.ts'
import { sealedMark } from '../stores/opened-value.ts'

const LENGTH_BYTES = 2
const HEADER_BYTES_MAX = 0xffff

export interface EnvelopeHeader {
  readonly binding: string
  readonly encoding: PayloadEncoding
  /** The names of the codecs, in the order in which they were applied. */
  readonly codecs: readonly string[]
}

export function packEnvelope({ binding, encoding, codecs }: EnvelopeHeader, body: Uint8Array): Uint8Array {
  const header = Buffer.from(JSON.stringify({ b: binding, e: encoding, c: codecs }))
  if (header.byteLength > HEADER_BYTES_MAX) throw damaged('has a header that is too long')
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt16BE(header.byteLength)
  return Buffer.concat([sealedMark, length, header, body])
}

export function unpackEnvelope(bytes: Uint8Array): { readonly header: EnvelopeHeader; readonly body: Uint8Array } {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const from = sealedMark.byteLength + LENGTH_BYTES
  if (view.byteLength < from) throw damaged('is cut')
  const to = from + view.readUInt16BE(sealedMark.byteLength)
  if (view.byteLength < to) throw damaged('is cut')
  return { header: headerOf(view.subarray(from, to).toString('utf8')), body: view.subarray(to) }
}

function headerOf(text: string): EnvelopeHeader {
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch {
    throw damaged('has a header that is no JSON')
  }
  const { b, e, c } = (found ?? {}) as { readonly b?: unknown; readonly e?: unknown; readonly c?: unknown }
  const isList = Array.isArray(c) && c.every((name) => typeof name === 'string')
  if (typeof b !== 'string' || (e !== 'json' && e !== 'bytes') || !isList) throw damaged('has a header of another form')
  return { binding: b, encoding: e, codecs: c }
}

/** The error of a value that is not as it was written. `problem` is a clause. */
export function damaged(problem: string, options?: ErrorOptions): EngineError {
  return new EngineError('value_tampered', { message: `The stored value ${problem}.` }, options)
}
