/**
 * The bytes of values as a codec leaves them. A sealed value begins with bytes that no JSON text and no chunk of frames begins with.
 */
import { EngineError } from '../kernel/engine-error.ts'
import type { ErrorCode } from '../kernel/errors.ts'
import type { PayloadEncoding } from '../kernel/model/base-records.ts'

const MAGIC = [0x00, 0xff, 0x66, 0x66]

export const sealedMark: Uint8Array = Uint8Array.from(MAGIC)

export function isSealed(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, i) => bytes[i] === byte)
}

/** Bytes that a codec has opened. Their encoding was sealed with them, and replaces that of the record. */
export class OpenedValue extends Uint8Array {
  encoding: PayloadEncoding = 'bytes'

  static withEncoding(bytes: Uint8Array, encoding: PayloadEncoding): OpenedValue {
    const opened = new OpenedValue(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength)
    opened.encoding = encoding
    return opened
  }
}

/** The place of bytes that a codec could not open. */
export class UnopenedValue extends Uint8Array {
  error: EngineError = new EngineError('value_sealed')

  static because(error: EngineError): UnopenedValue {
    const unopened = new UnopenedValue(0)
    unopened.error = error
    return unopened
  }
}

/** The codes of values that this process cannot read, whenever it tries. */
export const UNREADABLE_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'value_sealed',
  'codec_key_missing',
  'value_tampered',
  'object_missing',
])

/** Returns why bytes cannot be read by this process; undefined if they can. */
export function unreadable(bytes: Uint8Array): EngineError | undefined {
  if (bytes instanceof UnopenedValue) return bytes.error
  return !(bytes instanceof OpenedValue) && isSealed(bytes) ? new EngineError('value_sealed') : undefined
}

/** Stands for a value that this process cannot read, where values are only shown. */
export class SealedValue {
  readonly sealed: ErrorCode

  constructor(reason: EngineError) {
    this.sealed = reason.code
  }
}
