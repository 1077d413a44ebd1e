/** A dialog that asks before something is changed. The element of the browser keeps focus inside and closes on Escape. */
import { useMutation } from '@tanstack/react-query'
import { useEffect, useId, useRef } from 'react'
import type { SubmitEvent, ReactNode } from 'react'
import { Text } from './text.tsx'
import { Failed } from './views.tsx'

export interface DialogProps {
  readonly title: string
  /** What the button does, as a verb. */
  readonly verb: string
  readonly isDangerous?: boolean
  /** Acts on the fields of the form. */
  readonly act: (fields: FormData) => Promise<unknown>
  readonly onClose: () => void
  readonly onDone?: () => void
  readonly children?: ReactNode
}

export function ActionDialog(props: DialogProps) {
  const { title, verb, isDangerous = false, act, onClose, onDone, children } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  const action = useMutation({
    mutationFn: act,
    onSuccess: () => {
      onDone?.()
      onClose()
    },
  })
  useEffect(() => dialog.current?.showModal(), [])
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    action.mutate(new FormData(event.currentTarget))
  }
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby={titleId} onClose={onClose}>
      <form onSubmit={submit}>
        <h2 id={titleId}>
          <Text>{title}</Text>
        </h2>
        {children}
        {action.error !== null && <Failed error={action.error} />}
        <footer className="dialog-foot">
          <button type="button" onClick={() => dialog.current?.close()}>
            Keep as it is
          </button>
          <button type="submit" className={isDangerous ? 'danger' : 'primary'} disabled={action.isPending}>
            {action.isPending ? 'Sending…' : verb}
          </button>
        </footer>
      </form>
    </dialog>
  )
}

export function Field(props: { readonly label: string; readonly hint?: string; readonly children: ReactNode }) {
  return (
    <label className="field">
      <span className="field-label">{props.label}</span>
      {props.children}
      {props.hint !== undefined && <span className="muted">{props.hint}</span>}
    </label>
  )
}

/** Returns the text of a field; undefined if it is empty. */
export function textOf(fields: FormData, name: string): string | undefined {
  const value = fields.get(name)
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

/** Parses a field as JSON. Throws with words for a person. */
export function jsonOf(fields: FormData, name: string): unknown {
  const text = textOf(fields, name)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new Error('The value is not JSON. A text needs quotes: "like this".')
  }
}
