/**
 * The bytes of a signing key. They leave this class only as a MAC over a text, and through `reveal`, which only the key file
 * calls. Printing, logging, cloning or serializing a secret reveals nothing.
 */
import { createHash, createHmac } from 'node:crypto'
import { inspect } from 'node:util'
import { secretBytes } from '../../runtime/index.ts'

export const SECRET_MIN_BYTES = 32
const SECRET_MAX_BYTES = 1_024
const BASE64URL = /^[A-Za-z0-9_-]+$/
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
