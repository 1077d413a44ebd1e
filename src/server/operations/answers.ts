/** What a caller may see of the results of operations, as over the other routes. */
import type { Charge, Consumer } from '../../kernel/index.ts'
import type { Principal } from '../auth/principal.ts'

/** Fields of results that not every caller may see. */
interface GuardedResult {
  readonly consumer?: Consumer
  readonly consumers?: readonly Consumer[]
  readonly charges?: readonly Charge[]
}

/** Returns the result without what is hidden from the caller. */
export function seenBy({ role, namespace }: Principal, result: object): object {
  const { consumer, consumers, charges } = result as GuardedResult
  if (charges !== undefined && namespace !== undefined) {
    return { ...result, charges: charges.filter(({ spender }) => spender.namespace === namespace) }
  }
  if (role === 'admin') return result
  if (consumer !== undefined) return { ...result, consumer: withoutTarget(consumer) }
  if (consumers !== undefined) return { ...result, consumers: consumers.map(withoutTarget) }
  return result
}

/** Paths and queries of URLs may contain credentials, so only those who define webhooks see them. */
function withoutTarget(consumer: Consumer): Consumer {
  const { webhook } = consumer
  if (webhook === undefined) return consumer
  const secrets = webhook.secrets.map((secret) => ({ ...secret, sealed: '' }))
  return { ...consumer, webhook: { ...webhook, url: new URL(webhook.url).origin, secrets } }
}
