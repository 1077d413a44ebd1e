import { useNavigate } from '@tanstack/react-router'
import { call } from '../../api/call.ts'
import type { Consumer } from '../../api/types.ts'
import { ActionButton, ReasonField } from '../../parts/action-button.tsx'
import { Field, textOf, textsOf } from '../../parts/dialog.tsx'

/** What the server accepts: a cursor has a position for every partition. */
const CURSOR_MAX = 16_384

export function ConsumerActions({ consumer: { name, namespace } }: { readonly consumer: Consumer }) {
  const navigate = useNavigate()
  const asked = { params: { consumer: name }, query: { namespace } }
  const seek = async (form: FormData) => {
    const [place, cursor] = [textOf(form, 'place'), textOf(form, 'cursor')]
    if (place === 'cursor' && cursor === undefined) throw new Error('Give the cursor of an event.')
    const to =
      place === 'start' ? { fromStart: true } : place === 'end' || cursor === undefined ? { toEnd: true } : { cursor }
    return await call('seekConsumer', { ...asked, body: { ...to, ...textsOf(form, 'reason') } })
  }
  return (
    <div className="actions">
      <ActionButton label="Move" title={`Move consumer “${name}”`} verb="Move it" isDangerous act={seek}>
        <p>Its processes stop what they handle and continue there. Events may be handled again, or never.</p>
        <Field label="To">
          <select name="place" defaultValue="start">
            <option value="start">the oldest event that is kept</option>
            <option value="end">the newest event, without those that wait</option>
            <option value="cursor">the event after a cursor</option>
          </select>
        </Field>
        <Field label="Cursor" hint="Only to move it after one event.">
          <input name="cursor" maxLength={CURSOR_MAX} />
        </Field>
        <ReasonField />
      </ActionButton>
      <ActionButton
        label="Delete"
        title={`Delete consumer “${name}”?`}
        verb="Delete it"
        isDangerous
        act={async (form) => {
          await call('deleteConsumer', { ...asked, body: textsOf(form, 'reason') })
          await navigate({ to: '/consumers' })
        }}
      >
        <p>Its position is forgotten, and its processes stop consuming.</p>
        <ReasonField />
      </ActionButton>
    </div>
  )
}
