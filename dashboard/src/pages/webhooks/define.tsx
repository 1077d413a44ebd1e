import { useState } from 'react'
import { call } from '../../api/call.ts'
import { eventTypes } from '../../api/types.ts'
import { ActionButton, ReasonField } from '../../parts/action-button.tsx'
import { Field, textOf, textsOf } from '../../parts/dialog.tsx'
import { OnceSecret } from '../../parts/once-secret.tsx'

/** Defines a webhook, and shows the secret that it begins with. */
export function DefineWebhook() {
  const [secret, setSecret] = useState<string>()
  const act = async (form: FormData) => {
    const [task, lane] = [textOf(form, 'task'), textOf(form, 'lane')]
    const types = eventTypes.filter((type) => form.getAll('types').includes(type))
    const answer = await call('defineWebhook', {
      params: { webhook: textOf(form, 'name') ?? '' },
      body: {
        url: textOf(form, 'url') ?? '',
        ...(types.length === 0 ? {} : { types }),
        ...(task === undefined ? {} : { task }),
        ...(lane === undefined ? {} : { lane }),
        ...textsOf(form, 'reason'),
      },
    })
    setSecret(answer.secret)
  }
  return (
    <>
      <ActionButton label="Define a webhook" title="Define or change a webhook" verb="Define it" role="admin" act={act}>
        <Field label="Name" hint="That of an existing one changes it.">
          <input name="name" required maxLength={128} />
        </Field>
        <Field label="URL">
          <input name="url" type="url" required maxLength={2_048} placeholder="https://" />
        </Field>
        <Field label="Events" hint="All unless some are chosen.">
          <select name="types" multiple size={6}>
            {eventTypes.map((type) => (
              <option key={type} value={type}>
                {type.replaceAll('_', ' ')}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Task (optional)">
          <input name="task" maxLength={128} />
        </Field>
        <Field label="Lane (optional)">
          <input name="lane" maxLength={128} />
        </Field>
        <ReasonField />
      </ActionButton>
      {secret !== undefined && (
        <OnceSecret title="The secret of the webhook" secret={secret} onClose={() => setSecret(undefined)} />
      )}
    </>
  )
}
