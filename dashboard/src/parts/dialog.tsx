/** A dialog that asks before something is changed. The element of the browser keeps focus inside and closes on Escape. */
import { useMutation } from '@tanstack/react-query'
import { createContext, useContext, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import type { SubmitEvent, ReactNode } from 'react'
import { ApiError } from '../api/call.ts'
import { Text } from './text.tsx'
import { Failed } from './views.tsx'

export interface DialogProps {
  readonly title: string
  /** What the button does, as a verb. */
  readonly verb: string
  readonly isDangerous?: boolean
  /** A form with many fields. */
  readonly isWide?: boolean
  /** False while fields are loading, so that nothing is sent without them. */
  readonly isReady?: boolean
  /** Acts on the fields of the form. */
  readonly act: (fields: FormData) => Promise<unknown>
  readonly onClose: () => void
  readonly onDone?: () => void
  readonly children?: ReactNode
}

/** A part of the request that was refused, by the name that the server has for it. */
interface FieldProblem {
  readonly path: string
  readonly message: string
}

const FieldProblems = createContext<readonly FieldProblem[]>([])

/** A refusal of the form, before anything is sent. */
export class FieldError extends Error {
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

const BESIDE_FIELDS = new Error('Nothing was changed. See what is written beside the marked fields.')

function problemsOf(error: Error | null): readonly FieldProblem[] {
  if (error instanceof FieldError) return [{ path: error.field, message: error.message }]
  if (!(error instanceof ApiError) || error.problem === undefined) return []
  const { issues, field } = error.problem
  if (issues !== undefined && issues.length > 0) return issues
  return field === undefined ? [] : [{ path: field, message: error.message }]
}

export function ActionDialog(props: DialogProps) {
  const { title, verb, isDangerous = false, isWide = false, isReady = true, act, onClose, onDone, children } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  // A second submit may come before the button is disabled.
  const isSending = useRef(false)
  const action = useMutation({
    // What the form refuses is thrown before the request, and shown in the same way.
    mutationFn: async (fields: FormData) => await act(fields),
    onSuccess: () => {
      onDone?.()
      onClose()
    },
    onError: () => {
      isSending.current = false
    },
  })
  useEffect(() => dialog.current?.showModal(), [])
  const [isBesideFields, setBesideFields] = useState(false)
  // Before the screen is painted, so that the text of a problem is not shown in two places for a moment.
  useLayoutEffect(() => {
    // The fields have marked themselves before.
    const marked = dialog.current?.querySelectorAll<HTMLElement>('[aria-invalid]') ?? []
    setBesideFields(marked.length > 0 && marked.length >= problemsOf(action.error).length)
    marked[0]?.focus()
  }, [action.error])
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (isSending.current) return
    isSending.current = true
    action.mutate(new FormData(event.currentTarget))
  }
  return (
    <dialog ref={dialog} className="dialog" data-wide={isWide} aria-labelledby={titleId} onClose={onClose}>
      <form onSubmit={submit}>
        <h2 id={titleId}>
          <Text>{title}</Text>
        </h2>
        <FieldProblems value={problemsOf(action.error)}>{children}</FieldProblems>
        {action.error !== null && <Failed error={isBesideFields ? BESIDE_FIELDS : action.error} />}
        <footer className="dialog-foot">
          <button type="button" onClick={() => dialog.current?.close()}>
            Keep as it is
          </button>
          <button type="submit" className={isDangerous ? 'danger' : 'primary'} disabled={action.isPending || !isReady}>
            {action.isPending ? 'Sending…' : verb}
          </button>
        </footer>
      </form>
    </dialog>
  )
}

/** A field with its label. A refusal of the server that names one of the `parts` of the request is shown beside it. */
export function Field(props: {
  readonly label: string
  readonly hint?: string
  readonly parts?: readonly string[]
  readonly children: ReactNode
}) {
  const { label, hint, parts = [], children } = props
  const problem = useContext(FieldProblems).find(({ path }) =>
    path.split(/[.[\]]/).some((part) => parts.includes(part)),
  )
  const named = useRef<HTMLLabelElement>(null)
  const textId = useId()
  const isExplained = problem !== undefined || hint !== undefined
  useLayoutEffect(() => {
    const control = named.current?.control
    if (problem === undefined) control?.removeAttribute('aria-invalid')
    else control?.setAttribute('aria-invalid', 'true')
    if (isExplained) control?.setAttribute('aria-describedby', textId)
    else control?.removeAttribute('aria-describedby')
  }, [problem, isExplained, textId])
  return (
    <div className="field">
      <label ref={named}>
        <span className="field-label">{label}</span>
        {children}
      </label>
      {isExplained && (
        <p id={textId}>
          {problem !== undefined && (
            <span className="field-problem">
              <Text>{problem.message}</Text>
            </span>
          )}
          {hint !== undefined && <span className="muted">{hint}</span>}
        </p>
      )}
    </div>
  )
}

/** Returns the text of a field; undefined if it is empty. */
export function textOf(fields: FormData, name: string): string | undefined {
  const value = fields.get(name)
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

/** Returns those of the named fields that are filled in. */
export function textsOf<Name extends string>(fields: FormData, ...names: readonly Name[]): { [K in Name]?: string } {
  const given: { [K in Name]?: string } = {}
  for (const name of names) {
    const text = textOf(fields, name)
    if (text !== undefined) given[name] = text
  }
  return given
}

/** Parses a field as JSON. Throws with words for a person. */
export function jsonOf(fields: FormData, name: string): unknown {
  const text = textOf(fields, name)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new FieldError(name, 'The value is not JSON. A text needs quotes: "like this".')
  }
}
