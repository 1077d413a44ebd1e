/** What a batcher needs of a codec: it changes the bytes of calls before the store gets them, and those of answers afterwards. */
import type { Answer, Call } from './store.ts'

export interface CallCodec {
  /** Bytes that a single value may have before it is encoded. Undefined: as without a codec. */
  readonly maxBytes: number | undefined
  /** Returns the call as the store gets it. */
  encodeCall<C extends Call>(call: C): Promise<C>
  /** Opens the values of an answer to a call. */
  openAnswer(call: Call, answer: Extract<Answer, { kind: 'answered' }>): Promise<Extract<Answer, { kind: 'answered' }>>
  /** Returns a digest of plain bytes that reveals nothing about them without the keys; undefined: they need no protection. */
  digest(bytes: Uint8Array): string | undefined
}
