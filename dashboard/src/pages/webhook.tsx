import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { State } from '../parts/state.tsx'
import { Text } from '../parts/text.tsx'
import { Loaded, Page, Panel } from '../parts/views.tsx'
import { WebhookActions } from './webhooks/actions.tsx'
import { Deliveries } from './webhooks/deliveries.tsx'
import { WebhookFacts } from './webhooks/facts.tsx'

/** Changes of webhooks are no events. */
const POLL_MS = 3_000

export function WebhookPage() {
  const { name } = useParams({ from: '/webhooks/$name' })
  const { namespace, state } = useSearch({ from: '/webhooks/$name' })
  const query = useQuery({
    queryKey: ['webhook', name, namespace],
    queryFn: ({ signal }) => call('describeWebhook', { params: { webhook: name }, query: { namespace }, signal }),
    refetchInterval: POLL_MS,
  })
  return (
    <Loaded query={query}>
      {(webhook) => (
        <Page
          title={
            <>
              <Text>{webhook.name}</Text> <State state={webhook.state} />
            </>
          }
          actions={<WebhookActions webhook={webhook} />}
        >
          <Panel title="Facts">
            <WebhookFacts webhook={webhook} />
          </Panel>
          <Deliveries webhook={webhook} state={state} />
        </Page>
      )}
    </Loaded>
  )
}
