/**
 * The bytes of a signing key. They leave this class only as a MAC over a text, as the key of a cipher, and through `reveal`, which
 * only the key file calls. Printing, logging, cloning or serializing a secret reveals nothing.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac } from 'node:crypto'
import { inspect } from 'node:util'
import { secretBytes } from '../../runtime/index.ts'

export const SECRET_MIN_BYTES = 32
const SECRET_MAX_BYTES = 1_024
const BASE64URL = /^[A-Za-z0-9_-]+$/
const SEAL_CIPHER = 'aes-256-gcm'
const SEAL_NONCE_BYTES = 12
const SEAL_TAG_BYTES = 16
const REDACTED = '<REDACTED>'
const FINGERPRINT_HEX = 16

export class Secret {
  readonly #bytes: Buffer

  private constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  static mint(): Secret {
    return new Secret(secretBytes(SECRET_MIN_BYTES))
  }

  /** Returns undefined unless the text is base64url of enough bytes. Does not reveal which check failed. */
  static parse(text: string): Secret | undefined {
    if (!BASE64URL.test(text)) return undefined
    const bytes = Buffer.from(text, 'base64url')
    return bytes.length < SECRET_MIN_BYTES || bytes.length > SECRET_MAX_BYTES ? undefined : new Secret(bytes)
  }

  /** HMAC-SHA-256 of a text, as base64url. */
  mac(text: string): string {
    return createHmac('sha256', this.#bytes).update(text).digest('base64url')
  }

  /** Encrypts bytes, so that only a holder of the secret reads them, and only in the same context. */
  seal(plain: Buffer, context: string): string {
    const nonce = secretBytes(SEAL_NONCE_BYTES)
    const cipher = createCipheriv(SEAL_CIPHER, this.#sealingKey(), nonce).setAAD(Buffer.from(context))
    const sealed = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
    return sealed.toString('base64url')
  }

  /** Decrypts what `seal` returned. Returns undefined if it was changed, or sealed with another secret or context. */
  unseal(sealed: string, context: string): Buffer | undefined {
    const bytes = Buffer.from(sealed, 'base64url')
    if (bytes.length < SEAL_NONCE_BYTES + SEAL_TAG_BYTES) return undefined
    const nonce = bytes.subarray(0, SEAL_NONCE_BYTES)
    const tag = bytes.subarray(-SEAL_TAG_BYTES)
    const content = bytes.subarray(SEAL_NONCE_BYTES, -SEAL_TAG_BYTES)
    const decipher = createDecipheriv(SEAL_CIPHER, this.#sealingKey(), nonce, { authTagLength: SEAL_TAG_BYTES })
    try {
      decipher.setAAD(Buffer.from(context)).setAuthTag(tag)
      return Buffer.concat([decipher.update(content), decipher.final()])
    } catch {
      return undefined
    }
  }

  /** No token begins as the text that the key is derived from. */
  #sealingKey(): Buffer {
    return createHmac('sha256', this.#bytes).update('seal').digest()
  }

  /** Identifies the secret without revealing it. */
  get fingerprint(): string {
    return createHash('sha256').update(this.#bytes).digest('hex').slice(0, FINGERPRINT_HEX)
  }

  /** Returns the secret as `parse` takes it, to be written to a key file only. */
  reveal(): string {
    return this.#bytes.toString('base64url')
  }

  toString(): string {
    return REDACTED
  }

  toJSON(): string {
    return REDACTED
  }

  [inspect.custom](): string {
    return REDACTED
  }
}
