/** A codec changes the bytes of values between a program and the store, such as by encryption. The store never has the plain bytes. */
import type { PayloadEncoding } from '../kernel/model/base-records.ts'

/** What a value belongs to. */
export interface ValueContext {
  /** The record and its part, such as `execution 3-… result`. A codec that authenticates includes it. */
  readonly binding: string
  /** The execution or the flow whose removal removes the value. Undefined if that is not known yet. */
  readonly owner: string | undefined
  readonly encoding: PayloadEncoding
}

export interface ValueCodec {
  /** Stored with each value, so that a reader finds the codec. */
  readonly name: string
  /** Bytes that a single value may have. Undefined: as without the codec. */
  readonly maxBytes?: number | undefined
  /** Whether a value without a codec is refused: another program may have written it. */
  readonly refusesPlain?: boolean | undefined
  /** Returns undefined to leave a value as it is. */
  encode(bytes: Uint8Array, about: ValueContext): Uint8Array | undefined | Promise<Uint8Array | undefined>
  decode(bytes: Uint8Array, about: ValueContext): Uint8Array | Promise<Uint8Array>
  /** Returns a digest that reveals nothing about the bytes without a key. */
  digest?(bytes: Uint8Array): string
}
