import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { Webhook } from '../../api/types.ts'
import { ActionButton, ReasonField } from '../../parts/action-button.tsx'
import { Field, textOf, textsOf } from '../../parts/dialog.tsx'
import { OnceSecret } from '../../parts/once-secret.tsx'

export function RotateWebhook({
  webhook: { name, namespace },
}: {
  readonly webhook: Pick<Webhook, 'name' | 'namespace'>
}) {
  const [secret, setSecret] = useState<string>()
  const act = async (form: FormData) => {
    const asked = { params: { webhook: name }, query: { namespace } }
    const body = { grace: textOf(form, 'grace') ?? '1d', ...textsOf(form, 'reason') }
    const answer = await call('rotateWebhook', { ...asked, body })
    setSecret(answer.secret)
  }
  return (
    <>
      <ActionButton
        label="Rotate secret"
        title={`Make a new secret for “${name}”?`}
        verb="Rotate it"
        role="admin"
        act={act}
      >
        <p>Deliveries are signed with both secrets during the grace period.</p>
        <Field label="Grace period" hint="As 30m, 12h or 7d.">
          <input name="grace" required pattern="\d+(ms|s|m|h|d)" defaultValue="1d" />
        </Field>
        <ReasonField />
      </ActionButton>
      {secret !== undefined && (
        <OnceSecret title={`The new secret of “${name}”`} secret={secret} onClose={() => setSecret(undefined)} />
      )}
    </>
  )
}
