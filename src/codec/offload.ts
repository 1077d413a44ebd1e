/** Offload of large values: their bytes are objects in a bucket, and the store has the name of the object. */
import { EngineError } from '../kernel/engine-error.ts'
import type { Bucket } from './bucket.ts'
import { damaged } from './envelope.ts'
import { hashOf, nameObject, parseObjectName, subjectOf } from './object-name.ts'
import type { ValueCodec } from './value-codec.ts'

/** Smaller values stay in the store. */
const ABOVE_DEFAULT_BYTES = 65_536
const MAX_DEFAULT_BYTES = 67_108_864
const TRY_COUNT = 3

export interface OffloadOptions {
  readonly to: Bucket
  /** Values with more bytes are offloaded. Default: 64 KiB. */
  readonly above?: number
  /** The largest input, result, step value or signal. Default: 64 MiB. */
  readonly max?: number
}

/**
 * Stores large values in a bucket. Put it behind `encryption`, so that the bucket has ciphertext only.
 *
 * @example
 * const codec = [encryption({ keys }), offload({ to: fileBucket('/srv/values') })]
 */
export function offload({ to, above = ABOVE_DEFAULT_BYTES, max = MAX_DEFAULT_BYTES }: OffloadOptions): ValueCodec {
  return {
    name: 'offload',
    maxBytes: max,
    encode: async (bytes, about) => {
      const name = bytes.byteLength <= above ? undefined : nameObject(bytes, about)
      if (name === undefined) return undefined
      await available(() => to.put(name, bytes))
      return Buffer.from(name)
    },
    decode: async (reference, { binding }) => {
      const name = Buffer.from(reference).toString('utf8')
      const parsed = parseObjectName(name)
      if (parsed === undefined) throw damaged('has no reference to an object')
      // Callers without the codec may submit a reference of their own making.
      if (parsed.subject !== subjectOf(binding)) throw damaged('refers to an object of another execution')
      const bytes = await available(() => to.get(name))
      if (bytes === undefined) {
        const message = `The object ${name} of an offloaded value does not exist in its bucket.`
        throw new EngineError('object_missing', { message })
      }
      if (parsed.hash !== hashOf(bytes)) throw damaged(`was changed in its bucket: the object ${name} has other bytes`)
      return bytes
    },
  }
}

/** Tries a few times. What remains is like a failure of the store, which callers repeat. */
async function available<T>(call: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await call()
    } catch (cause) {
      if (tried < TRY_COUNT) continue
      const message = `The bucket of offloaded values does not answer: ${cause instanceof Error ? cause.message : 'unknown'}`
      throw new EngineError('store_unavailable', { message }, { cause })
    }
  }
}
