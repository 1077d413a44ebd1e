import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { useMay } from '../api/session.tsx'
import type { Session } from '../api/types.ts'
import { ActionDialog, Field } from './dialog.tsx'

export interface ActionButtonProps {
  readonly label: string
  readonly title: string
  readonly verb: string
  readonly act: (fields: FormData) => Promise<unknown>
  readonly role?: Session['role']
  readonly isDangerous?: boolean
  readonly isWide?: boolean
  /** Whether the state permits the action. An open dialog stays when that changes, so that it never becomes another one or vanishes. */
  readonly isOffered?: boolean
  readonly children?: ReactNode
}

/** A button that asks in a dialog before it acts. It is not shown to a role that may not act. */
export function ActionButton(props: ActionButtonProps) {
  const { label, title, verb, act, role = 'operator', isDangerous = false, isWide = false, children } = props
  const { isOffered = true } = props
  const [isOpen, setOpen] = useState(false)
  const queries = useQueryClient()
  if (!useMay(role)) return null
  return (
    <>
      {isOffered && (
        <button type="button" onClick={() => setOpen(true)}>
          {label}
        </button>
      )}
      {isOpen && (
        <ActionDialog
          title={title}
          verb={verb}
          isDangerous={isDangerous}
          isWide={isWide}
          act={act}
          onClose={() => setOpen(false)}
          // Reads everything again, without waiting for the event of the change.
          onDone={() => void queries.invalidateQueries()}
        >
          {children}
        </ActionDialog>
      )}
    </>
  )
}

export function ReasonField({
  isRequired = false,
  max = 200,
}: {
  readonly isRequired?: boolean
  readonly max?: number
}) {
  return (
    <Field label={isRequired ? 'Reason' : 'Reason (optional)'} hint="Recorded with your name." parts={['reason']}>
      <input name="reason" maxLength={max} required={isRequired} />
    </Field>
  )
}
