/** Changes of all executions that a filter finds: counted first, then started, then followed. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useId, useRef, useState } from 'react'
import type { SubmitEvent } from 'react'
import { call } from '../../api/call.ts'
import { useMay } from '../../api/session.tsx'
import type { BulkChange, BulkState } from '../../api/types.ts'
import { Field, textOf } from '../../parts/dialog.tsx'
import { randomKey } from '../../parts/random-key.ts'
import { State } from '../../parts/state.tsx'
import { Text } from '../../parts/text.tsx'
import { Failed, Loaded } from '../../parts/views.tsx'

export type BulkFilter = BulkChange['filter']
type Kind = BulkChange['action']['kind']

const LABELS: Readonly<Record<Kind, string>> = {
  cancel: 'Cancel them',
  replay: 'Replay them',
  priority: 'Change their priority',
  tags: 'Set a tag',
  delete: 'Delete them',
}
const FOLLOW_MS = 500
const PER_SECOND = 100

export function BulkButton(props: {
  readonly label: string
  readonly filter: BulkFilter
  readonly kinds?: readonly Kind[]
}) {
  const [isOpen, setOpen] = useState(false)
  if (!useMay('operator')) return null
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {props.label}
      </button>
      {isOpen && <BulkDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

function BulkDialog(props: {
  readonly filter: BulkFilter
  readonly kinds?: readonly Kind[]
  readonly onClose: () => void
}) {
  const { filter, kinds = ['cancel', 'replay', 'priority', 'tags', 'delete'], onClose } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  const [kind, setKind] = useState<Kind>(kinds[0] ?? 'replay')
  // A repeated request with one key starts one change.
  const [key] = useState(randomKey)
  const start = useMutation({
    mutationFn: (body: BulkChange) => call('startBulk', { body, key }),
  })
  const preview = useQuery({
    queryKey: ['bulk-preview', filter],
    queryFn: ({ signal }) => call('previewBulk', { body: { filter }, signal }),
    staleTime: 0,
  })
  useEffect(() => dialog.current?.showModal(), [])
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    start.mutate({ filter, action: actionOf(kind, form), perSecond: Number(form.get('perSecond')) })
  }
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby={titleId} onClose={onClose}>
      <form onSubmit={submit}>
        <h2 id={titleId}>{start.data === undefined ? 'Change all that these filters find' : 'The change runs'}</h2>
        <FilterWords filter={filter} />
        {start.data === undefined ? (
          <>
            <Loaded query={preview}>
              {({ count, isMore, examples }) => (
                <>
                  <p role="status">
                    <strong>
                      {isMore && 'More than '}
                      {count.toLocaleString('en')} {count === 1 ? 'execution' : 'executions'}
                    </strong>{' '}
                    would be changed now. Those that the change does not fit are left as they are.
                  </p>
                  {examples.length > 0 && (
                    <ul className="examples">
                      {examples.slice(0, 5).map((each) => (
                        <li key={each.id}>
                          <State state={each.state} /> <Text>{each.task}</Text>{' '}
                          <Text className="mono muted">{each.key ?? each.id}</Text>
                        </li>
                      ))}
                    </ul>
                  )}
                </>
              )}
            </Loaded>
            {kinds.length > 1 && (
              <Field label="Change">
                <select
                  value={kind}
                  onChange={(event) => setKind(kinds.find((each) => each === event.target.value) ?? kind)}
                >
                  {kinds.map((each) => (
                    <option key={each} value={each}>
                      {LABELS[each]}
                    </option>
                  ))}
                </select>
              </Field>
            )}
            <KindFields kind={kind} />
            <Field label="At most in a second" hint="So that workers and their services are not flooded.">
              <input name="perSecond" type="number" min={1} max={10_000} required defaultValue={PER_SECOND} />
            </Field>
          </>
        ) : (
          <Progress id={start.data.id} />
        )}
        {start.error !== null && <Failed error={start.error} />}
        <footer className="dialog-foot">
          <button type="button" onClick={() => dialog.current?.close()}>
            {start.data === undefined ? 'Keep as it is' : 'Close'}
          </button>
          {start.data === undefined && (
            <button
              type="submit"
              className={kind === 'cancel' || kind === 'delete' ? 'danger' : 'primary'}
              disabled={start.isPending || preview.data === undefined || preview.data.count === 0}
            >
              {start.isPending ? 'Sending…' : LABELS[kind]}
            </button>
          )}
        </footer>
      </form>
    </dialog>
  )
}

function FilterWords({ filter }: { readonly filter: BulkFilter }) {
  const words = Object.entries(filter).map(([name, value]) => {
    const text = Array.isArray(value)
      ? value.join(', ')
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value)
    return `${name}: ${text}`
  })
  return (
    <p className="muted breakable">
      <Text>{words.join(' · ')}</Text>
    </p>
  )
}

function KindFields({ kind }: { readonly kind: Kind }) {
  switch (kind) {
    case 'cancel':
      return (
        <Field label="Reason" hint="Recorded with your name.">
          <input name="reason" maxLength={200} required />
        </Field>
      )
    case 'priority':
      return (
        <Field label="Priority" hint="0 to 9000. Higher ones of a lane start first.">
          <input name="priority" type="number" min={0} max={9000} step={1} required />
        </Field>
      )
    case 'tags':
      return (
        <>
          <Field label="Name of the tag">
            <input name="name" required pattern="[a-z][a-z0-9_.\-]*" maxLength={64} />
          </Field>
          <Field label="Value">
            <input name="value" required maxLength={256} />
          </Field>
        </>
      )
    case 'delete':
      return <p className="muted">Only ended ones are deleted, with their inputs, results and journals.</p>
    case 'replay':
      return <p className="muted">Completed steps are kept and do not run again.</p>
  }
}

function actionOf(kind: Kind, form: FormData): BulkChange['action'] {
  switch (kind) {
    case 'cancel':
      return { kind, reason: textOf(form, 'reason') ?? '' }
    case 'priority':
      return { kind, priority: Number(form.get('priority')) }
    case 'tags':
      return { kind, tags: { [textOf(form, 'name') ?? '']: textOf(form, 'value') ?? '' } }
    case 'delete':
    case 'replay':
      return { kind }
  }
}

function Progress({ id }: { readonly id: string }) {
  const queries = useQueryClient()
  const query = useQuery({
    queryKey: ['bulk', id],
    queryFn: ({ signal }) => call('describeBulk', { params: { id }, signal }),
    refetchInterval: ({ state: { data } }) => (data?.endedAt === undefined ? FOLLOW_MS : false),
  })
  const isEnded = query.data?.endedAt !== undefined
  useEffect(() => {
    if (isEnded) void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'bulk' })
  }, [isEnded, queries])
  return (
    <Loaded query={query}>
      {(change) => (
        <>
          <p role="status">
            <State state={change.state} /> <Text>{progressWords(change)}</Text>
          </p>
          <p>
            <Link to="/executions/$id" params={{ id }}>
              Its execution
            </Link>
          </p>
        </>
      )}
    </Loaded>
  )
}

function progressWords({ outcome, failure, progress = '' }: BulkState): string {
  if (failure !== undefined) return failure
  if (outcome === undefined) return progress
  const refused = Object.entries(outcome.refused).map(
    ([code, count]) => `${count.toLocaleString('en')} left as they are: ${code.replaceAll('_', ' ')}`,
  )
  const changed = `${outcome.changed.toLocaleString('en')} of ${outcome.examined.toLocaleString('en')} changed`
  return [changed, ...refused, ...(outcome.isCut ? ['it stopped at its bound; start it again for the rest'] : [])].join(
    '. ',
  )
}
