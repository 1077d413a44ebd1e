/**
 * Encryption of values: AES-256-GCM with a key ring. Each value has a key of its own, derived from the secret of the ring and a random
 * salt, so a secret may seal any number of values. What the value belongs to is authenticated with it.
 *
 *     value = length of the key id, key id, salt (16 bytes), ciphertext, tag (16 bytes)
 */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { EngineError } from '../kernel/engine-error.ts'
import { secretBytes } from '../runtime/index.ts'
import { openCodecKeys } from './codec-keys.ts'
import type { CodecKeysOption } from './codec-keys.ts'
import { damaged } from './envelope.ts'
import type { ValueCodec, ValueContext } from './value-codec.ts'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const IV_BYTES = 12
const SALT_BYTES = 16
const TAG_BYTES = 16

export interface EncryptionOptions {
  /** The file of keys that `flowfabric codec-keys` manages, or the keys themselves. */
  readonly keys: CodecKeysOption
  /**
   * Values that are not encrypted: `accept` (the default) reads those that were stored before, `refuse` treats them as tampered with.
   */
  readonly plain?: 'accept' | 'refuse'
}

/**
 * Encrypts values before they leave the program.
 *
 * @example
 * await using fabric = await createFabric(location, { codec: encryption({ keys: '/run/secrets/codec-keys.json' }) })
 */
export function encryption({ keys: given, plain = 'accept' }: EncryptionOptions): ValueCodec {
  const keys = openCodecKeys(given)
  return {
    name: 'aes-256-gcm',
    refusesPlain: plain === 'refuse',
    encode: (bytes, about) => {
      const { id, secret } = keys.current()
      const salt = secretBytes(SALT_BYTES)
      const [key, iv] = deriveKey(secret, salt)
      const cipher = createCipheriv(CIPHER, key, iv)
      cipher.setAAD(boundBytes(about))
      const name = Buffer.from(id)
      const sealed = [cipher.update(bytes), cipher.final(), cipher.getAuthTag()]
      return Buffer.concat([Uint8Array.of(name.byteLength), name, salt, ...sealed])
    },
    decode: (bytes, about) => {
      const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      const from = 1 + (view[0] ?? 0)
      if (view.byteLength < from + SALT_BYTES + TAG_BYTES) throw damaged('is cut')
      const id = view.subarray(1, from).toString('utf8')
      const secret = keys.find(id)
      if (secret === undefined) {
        const message = `The value was encrypted with the key ${JSON.stringify(id)}, which this program does not have.`
        throw new EngineError('codec_key_missing', { message })
      }
      const [key, iv] = deriveKey(secret, view.subarray(from, from + SALT_BYTES))
      const decipher = createDecipheriv(CIPHER, key, iv)
      decipher.setAAD(boundBytes(about))
      decipher.setAuthTag(view.subarray(-TAG_BYTES))
      try {
        return Buffer.concat([decipher.update(view.subarray(from + SALT_BYTES, -TAG_BYTES)), decipher.final()])
      } catch (cause) {
        throw damaged(
          `does not match the key ${JSON.stringify(id)}: it was changed, moved, or sealed by another secret`,
          {
            cause,
          },
        )
      }
    },
    digest: (bytes) => createHmac('sha256', keys.digestSecret()).update('input\n').update(bytes).digest('base64url'),
  }
}

function deriveKey(secret: Buffer, salt: Uint8Array): readonly [key: Buffer, iv: Buffer] {
  const derived = createHmac('sha512', secret).update('flowfabric value\n').update(salt).digest()
  return [derived.subarray(0, KEY_BYTES), derived.subarray(KEY_BYTES, KEY_BYTES + IV_BYTES)]
}

function boundBytes({ binding, encoding }: ValueContext): Buffer {
  return Buffer.from(`${encoding}\n${binding}`)
}
