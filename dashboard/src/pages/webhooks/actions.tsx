import { useNavigate } from '@tanstack/react-router'
import { call } from '../../api/call.ts'
import type { Delivery, Webhook } from '../../api/types.ts'
import { ActionButton, ReasonField } from '../../parts/action-button.tsx'
import { textsOf } from '../../parts/dialog.tsx'
import { Text } from '../../parts/text.tsx'
import { RotateWebhook } from './rotate.tsx'

export function WebhookActions({ webhook: { name, namespace, state } }: { readonly webhook: Webhook }) {
  const navigate = useNavigate()
  const asked = { params: { webhook: name }, query: { namespace } }
  return (
    <div className="actions">
      <ActionButton
        label="Enable"
        title={`Enable webhook “${name}”?`}
        verb="Enable it"
        isOffered={state === 'disabled'}
        act={(form) => call('enableWebhook', { ...asked, body: textsOf(form, 'reason') })}
      >
        <p>The events that wait in the log are sent.</p>
        <ReasonField />
      </ActionButton>
      <ActionButton
        label="Disable"
        title={`Disable webhook “${name}”?`}
        verb="Disable it"
        isDangerous
        isOffered={state !== 'disabled'}
        act={(form) => call('disableWebhook', { ...asked, body: textsOf(form, 'reason') })}
      >
        <p>Nothing is sent. Events wait in the log, which keeps them for a day. Deliveries that come up fail.</p>
        <ReasonField />
      </ActionButton>
      <RotateWebhook webhook={{ name, namespace }} />
      <ActionButton
        label="Delete"
        title={`Delete webhook “${name}”?`}
        verb="Delete it"
        role="admin"
        isDangerous
        act={async (form) => {
          await call('deleteWebhook', { ...asked, body: textsOf(form, 'reason') })
          await navigate({ to: '/webhooks' })
        }}
      >
        <p>Its secrets and its position are forgotten.</p>
        <ReasonField />
      </ActionButton>
    </div>
  )
}

export function RedeliverButton(props: {
  readonly webhook: Pick<Webhook, 'name' | 'namespace'>
  readonly delivery: Delivery
}) {
  const { webhook, delivery } = props
  const { name, namespace } = webhook
  return (
    <ActionButton
      label="Deliver again"
      title={`Deliver to “${name}” again?`}
      verb="Send it"
      isOffered={delivery.endedAt !== undefined}
      act={(form) =>
        call('redeliver', {
          params: { webhook: name, id: delivery.id },
          query: { namespace },
          body: textsOf(form, 'reason'),
        })
      }
    >
      <p>
        The receiver gets the event <Text>{delivery.eventType.replaceAll('_', ' ')}</Text> once more, with the same id
        and body.
      </p>
      <ReasonField />
    </ActionButton>
  )
}
