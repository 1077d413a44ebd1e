import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import type { Webhook } from '../api/types.ts'
import { State } from '../parts/state.tsx'
import { Text } from '../parts/text.tsx'
import { Empty, Loaded, Page, Panel } from '../parts/views.tsx'
import { DefineWebhook } from './webhooks/define.tsx'
import { WebhookActions } from './webhooks/actions.tsx'
import { WebhookFacts } from './webhooks/facts.tsx'

/** Changes of webhooks are no events. */
const POLL_MS = 3_000

export function WebhooksPage() {
  const query = useQuery({
    queryKey: ['webhooks'],
    queryFn: ({ signal }) => call('listWebhooks', { signal }),
    refetchInterval: POLL_MS,
  })
  return (
    <Page title="Webhooks" actions={<DefineWebhook />}>
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="There is no webhook">
              Define one with fabric.webhooks.define(name, options) or flowfabric webhooks.
            </Empty>
          ) : (
            items.map((webhook) => <WebhookPanel key={`${webhook.namespace}/${webhook.name}`} webhook={webhook} />)
          )
        }
      </Loaded>
    </Page>
  )
}

function WebhookPanel({ webhook }: { readonly webhook: Webhook }) {
  const { name, namespace, state } = webhook
  return (
    <Panel
      title={
        <>
          <Link to="/webhooks/$name" params={{ name }} search={{ namespace }}>
            <Text>{name}</Text>
          </Link>{' '}
          <State state={state} />
        </>
      }
      aside={<WebhookActions webhook={webhook} />}
    >
      <WebhookFacts webhook={webhook} />
    </Panel>
  )
}
