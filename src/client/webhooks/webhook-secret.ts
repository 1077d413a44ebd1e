/**
 * The secrets of webhooks. They are random, and stored encrypted with a key of the key ring, which is not in the store. The
 * signature is that of Standard Webhooks: HMAC-SHA-256 over id, timestamp and body.
 */
import { createHmac } from 'node:crypto'
import { EngineError } from '../../kernel/engine-error.ts'
import type { SealedSecret } from '../../kernel/index.ts'
import { secretBytes } from '../../runtime/index.ts'
import type { SealedText, TokenSigner } from '../tokens/token.ts'

const SECRET_BYTES = 32
const PREFIX = 'whsec_'

export interface MintedSecret {
  /** What the receiver verifies with. It is shown once. */
  readonly text: string
  readonly stored: SealedText
}

/** Returns the context in which the secrets of a webhook are sealed, so that a copy of one elsewhere is of no use. */
function contextOf(webhookId: string): string {
  return `webhook ${webhookId}`
}

export function mintSecret(tokens: TokenSigner, webhookId: string): MintedSecret {
  const bytes = secretBytes(SECRET_BYTES)
  return { text: PREFIX + bytes.toString('base64'), stored: tokens.seal(bytes, contextOf(webhookId)) }
}

function unsealSecret(tokens: TokenSigner, webhookId: string, secret: SealedText): Buffer {
  return tokens.unseal(secret, contextOf(webhookId))
}

export function resealSecret(tokens: TokenSigner, webhookId: string, secret: SealedText): SealedText {
  return tokens.seal(unsealSecret(tokens, webhookId, secret), contextOf(webhookId))
}

/** The secrets that sign at an instant. */
export function signingSecrets(secrets: readonly SealedSecret[], now: number): SealedSecret[] {
  return secrets.filter(({ until }) => until === undefined || until > now)
}

/** Decrypts secrets, the newest first. An earlier one whose key is gone signs no more: the newest took its place for that. */
export function openSecrets(tokens: TokenSigner, webhookId: string, secrets: readonly SealedSecret[]): Buffer[] {
  return secrets.flatMap((secret, i) => {
    try {
      return [unsealSecret(tokens, webhookId, secret)]
    } catch (error) {
      if (i > 0 && error instanceof EngineError && error.code === 'invalid_keys') return []
      throw error
    }
  })
}

/** The value of the header `webhook-signature`: one signature for each secret. */
export function signatureOf(secrets: readonly Buffer[], id: string, seconds: number, body: string): string {
  const signed = `${id}.${seconds}.${body}`
  return secrets.map((secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`).join(' ')
}
