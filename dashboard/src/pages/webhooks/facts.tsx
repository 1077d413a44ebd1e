import { useMay } from '../../api/session.tsx'
import type { Webhook } from '../../api/types.ts'
import { filterWords } from '../../parts/event-filter.ts'
import { Text } from '../../parts/text.tsx'
import { Moment } from '../../parts/time.tsx'
import { Facts } from '../../parts/views.tsx'

export function WebhookFacts({ webhook }: { readonly webhook: Webhook }) {
  const { url, namespace, disabled, failingSince, error, secrets, lagCount, missedCount, memberCount } = webhook
  const seesWholeUrl = useMay('admin')
  return (
    <Facts
      facts={[
        [
          'URL',
          <span key="url">
            <Text className="mono">{url}</Text>
            {!seesWholeUrl && <span className="muted"> (the role admin sees its path)</span>}
          </span>,
        ],
        ['Events', <Text key="events">{filterWords(webhook)}</Text>],
        ['Lag', `${lagCount.toLocaleString('en')} ${lagCount === 1 ? 'event' : 'events'}`],
        ['Processes', memberCount === 0 ? 'none delivers' : memberCount],
        ['Missed', missedCount > 0 && missedCount.toLocaleString('en')],
        ['Fails since', failingSince !== undefined && <Moment at={failingSince} />],
        ['Error', error !== undefined && <Text className="wide">{error}</Text>],
        [
          'Disabled',
          disabled !== undefined && (
            <>
              by <Text>{disabled.by}</Text>, <Moment at={disabled.at} />
              {disabled.reason !== undefined && (
                <>
                  : <Text>{disabled.reason}</Text>
                </>
              )}
            </>
          ),
        ],
        ['Secrets that sign', secrets.length],
        ['Namespace', namespace !== 'default' && <Text>{namespace}</Text>],
        ['Defined', <Moment at={webhook.createdAt} key="defined" />],
        ['Changed', <Moment at={webhook.changedAt} key="changed" />],
      ]}
    />
  )
}
