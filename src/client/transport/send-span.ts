/** The span of a submit, named after the conventions of OpenTelemetry for messaging. */
import type { SpanSpec } from '../../runtime/index.ts'

export function sendSpan(destination: string): SpanSpec {
  const attributes = {
    'messaging.system': 'flowfabric',
    'messaging.operation.name': 'send',
    'messaging.operation.type': 'send',
    'messaging.destination.name': destination,
  }
  return { name: `send ${destination}`, kind: 'producer', attributes }
}
