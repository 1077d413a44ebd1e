/** Encodes values as bytes and decodes them. Bytes are kept; everything else is JSON. */
import type { ErrorCode } from '../../kernel/errors.ts'
import type { BlobInfo, PayloadEncoding } from '../../kernel/model/base-records.ts'
import type { BlobInput } from '../../kernel/tx.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { OpenedValue, SealedValue, UNREADABLE_CODES, UnopenedValue, unreadable } from '../../stores/opened-value.ts'

export interface EncodedValue {
  readonly input: BlobInput
  readonly bytes: Uint8Array
}

/** Returns undefined for undefined, which is stored without bytes. */
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
  refuseWhatJsonLoses(value, field)
  const text = jsonOf(value, field)
  if (text === undefined) throw unwritable(field, `${field} is a ${typeof value}, which cannot be written as JSON.`)
  return text
}

/** Refuses values that JSON would silently turn into `{}` or null. Checks the value itself, not what it contains. */
function refuseWhatJsonLoses(value: unknown, field: string): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw unwritable(field, `${field} is ${value}, which JSON cannot carry: pass null or a text instead.`)
  }
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return
  const loss = isPlain(value) ? lossOfPlain(value) : losses.find((known) => known.is(value))
  if (loss === undefined) return
  throw unwritable(field, `${field} is ${loss.what}, which JSON cannot carry: ${loss.instead}.`)
}

/** Most values are objects or lists without a class. Of what JSON loses, such a value can only be a stream. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === Array.prototype
}

function lossOfPlain(value: object): Loss | undefined {
  return isStream(value) ? STREAM : undefined
}

interface Loss {
  readonly is: (value: object) => boolean
  readonly what: string
  /** What to do instead. */
  readonly instead: string
}

const STREAM: Loss = {
  is: isStream,
  what: 'a stream',
  instead: 'read it first, or store it elsewhere and pass a reference',
}

const losses: readonly Loss[] = [
  STREAM,
  { is: (value) => value instanceof Promise, what: 'a Promise', instead: 'await it first' },
  { is: (value) => value instanceof Map, what: 'a Map', instead: 'pass Object.fromEntries(map) or [...map]' },
  { is: (value) => value instanceof Set, what: 'a Set', instead: 'pass [...set]' },
  {
    is: (value) => value instanceof WeakMap || value instanceof WeakSet,
    what: 'a weak collection',
    instead: 'pass an object or an array',
  },
  {
    is: (value) => value instanceof ArrayBuffer || value instanceof SharedArrayBuffer || ArrayBuffer.isView(value),
    what: 'a buffer',
    instead: 'pass a Uint8Array of its bytes, or an array of numbers',
  },
  { is: (value) => value instanceof RegExp, what: 'a RegExp', instead: 'pass its source as a text' },
]

function isStream(value: object): boolean {
  return Symbol.asyncIterator in value || ('pipe' in value && typeof value.pipe === 'function')
}

/** A handler's result and a caller's input have different error codes. */
function unwritable(field: string, message: string, options?: ErrorOptions): EngineError {
  const code: ErrorCode = field === 'result' ? 'invalid_output' : 'invalid_input'
  return new EngineError(code, { field, message }, options)
}

/** Returns undefined for functions and symbols, which have no JSON. The declared type of JSON.stringify omits this. */
function jsonOf(value: unknown, field: string): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    throw unwritable(field, `${field} cannot be written as JSON.`, { cause })
  }
}

export function decodeValue(info: BlobInfo | undefined, bytes: Uint8Array | undefined): unknown {
  if (info === undefined || bytes === undefined) return undefined
  const problem = unreadable(bytes)
  if (problem !== undefined && (info.encoding === 'json' || bytes instanceof UnopenedValue)) throw problem
  if (bytes instanceof OpenedValue) {
    if (bytes.encoding === 'bytes') return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  } else if (info.encoding === 'bytes') return bytes
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))
}

/** Decodes a value that is only shown: one that this process cannot read is a `SealedValue`. */
export function decodeShown(info: BlobInfo | undefined, bytes: Uint8Array | undefined): unknown {
  try {
    return decodeValue(info, bytes)
  } catch (error) {
    if (isUnreadable(error)) return new SealedValue(error)
    throw error
  }
}

/** Whether an error is that of a value which this process cannot read, or not now. */
function isUnreadable(error: unknown): error is EngineError {
  return error instanceof EngineError && UNREADABLE_CODES.has(error.code)
}
