import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useRef } from 'react'
import type { SubmitEvent } from 'react'
import { call } from '../api/call.ts'
import { isOfExecution } from '../api/events.ts'
import { useLive } from '../api/live.ts'
import { executionStates } from '../api/types.ts'
import type { ExecutionSummary } from '../api/types.ts'
import { BulkButton } from './executions/bulk.tsx'
import type { BulkFilter } from './executions/bulk.tsx'
import { SavedViews } from './executions/saved-views.tsx'
import { textOf } from '../parts/dialog.tsx'
import { State, stateWord } from '../parts/state.tsx'
import { Text } from '../parts/text.tsx'
import { Moment, durationText } from '../parts/time.tsx'
import { Page } from '../parts/views.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import type { Column } from '../parts/virtual-list.tsx'

/** The server reads this many records for a page at most. */
const PAGE_ROWS = 100

const columns: readonly Column<ExecutionSummary>[] = [
  {
    name: 'Execution',
    width: 'minmax(13rem, 2.2fr)',
    cell: ({ id, key, task }) => (
      <Link to="/executions/$id" params={{ id }} className="row-link">
        <strong>
          <Text>{task}</Text>
        </strong>
        <span className="muted mono">
          <Text>{key ?? id}</Text>
        </span>
      </Link>
    ),
  },
  { name: 'State', width: '9.5rem', cell: ({ state }) => <State state={state} /> },
  {
    name: 'Detail',
    width: 'minmax(6rem, 2fr)',
    cell: (row) => (
      <span className="clip muted">
        <Text>{detailOf(row)}</Text>
      </span>
    ),
  },
  { name: 'Lane', width: '7rem', cell: ({ lane }) => <Text className="clip">{lane}</Text> },
  {
    name: 'Attempt',
    width: '4.2rem',
    cell: ({ attempt, attemptsAllowed }) => (
      <span className="number">
        {attempt} / {attemptsAllowed}
      </span>
    ),
  },
  { name: 'Created', width: '7.5rem', cell: ({ createdAt }) => <Moment at={createdAt} /> },
  {
    name: 'Took',
    width: '5rem',
    cell: ({ startedAt, endedAt }) => (
      <span className="number">
        {startedAt !== undefined && endedAt !== undefined ? durationText(endedAt - startedAt) : ''}
      </span>
    ),
  },
]

/** What a person asks first about an execution in its state. */
function detailOf({ failure, suspension, progress, lease, reason, by, node }: ExecutionSummary): string {
  if (failure !== undefined) return `${failure.category}: ${failure.message.split('\n', 1)[0] ?? ''}`
  if (reason !== undefined) return by === undefined ? reason : `${reason} (${by})`
  if (suspension !== undefined) return `in ${suspension.step}`
  if (progress !== undefined) return [percentText(progress.percent), progress.message].filter(Boolean).join(' ')
  if (lease !== undefined) return `on ${lease.workerId}`
  return node === undefined ? '' : `node ${node}`
}

function percentText(percent: number | undefined): string {
  return percent === undefined ? '' : `${Math.round(percent)} %`
}

interface Search {
  readonly state?: ExecutionSummary['state']
  readonly lane?: string
  readonly task?: string
  readonly tag?: string
  readonly error?: string
  readonly keyPrefix?: string
  readonly parent?: string
}

export function ExecutionsPage() {
  const search: Search = useSearch({ from: '/executions' })
  const navigate = useNavigate({ from: '/executions' })
  const refresh = useRef<() => void>(() => undefined)
  useLive(isOfExecution, () => refresh.current())
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    void navigate({
      search: (before) => ({
        ...(before.state === undefined ? {} : { state: before.state }),
        ...Object.fromEntries(
          ['task', 'lane', 'tag', 'keyPrefix', 'error', 'parent'].flatMap((name) => {
            const given = textOf(fields, name)
            return given === undefined ? [] : [[name, given]]
          }),
        ),
      }),
    })
  }
  return (
    <Page title="Executions" actions={<BulkActions search={search} />}>
      <SavedViews search={{ ...search }} />
      <div className="states" role="group" aria-label="State">
        {[undefined, ...executionStates].map((state) => (
          <Link
            key={state ?? 'all'}
            from="/executions"
            search={({ state: _, ...before }) => (state === undefined ? before : { ...before, state })}
            className="chip"
            aria-current={search.state === state ? 'true' : undefined}
          >
            {state === undefined ? 'All' : stateWord(state)}
          </Link>
        ))}
      </div>
      <form className="filters" onSubmit={submit} key={JSON.stringify(search)} role="search">
        <input name="task" aria-label="Task" placeholder="Task" defaultValue={search.task} />
        <input name="lane" aria-label="Lane" placeholder="Lane" defaultValue={search.lane} />
        <input
          name="tag"
          aria-label="Tag"
          placeholder="Tag, as plan:pro"
          defaultValue={search.tag}
          pattern="[^:]+:.*"
          title="A name, a colon and a value"
        />
        <input name="keyPrefix" aria-label="Key" placeholder="Key begins with" defaultValue={search.keyPrefix} />
        <input name="error" aria-label="Error" placeholder="Error category" defaultValue={search.error} />
        <input name="parent" aria-label="Parent" placeholder="Children of (id)" defaultValue={search.parent} />
        <button type="submit">Filter</button>
        {Object.keys(search).length > 0 && (
          <Link to="/executions" className="button">
            Clear
          </Link>
        )}
        <GoTo />
      </form>
      <VirtualList
        label="Executions"
        rowKey={['executions', search]}
        read={(cursor, signal) => call('listExecutions', { query: { ...search, cursor, limit: PAGE_ROWS }, signal })}
        columns={columns}
        empty={<p className="muted">No execution fits these filters.</p>}
        onRefresh={(next) => (refresh.current = next)}
      />
    </Page>
  )
}

/** A change of all executions is no filter, and children of one have none of their own. */
function BulkActions({ search }: { readonly search: Search }) {
  const { state, task, lane, tag, keyPrefix, error, parent } = search
  if (parent !== undefined || Object.keys(search).length === 0) return null
  const colon = tag?.indexOf(':') ?? -1
  const filter: BulkFilter = {
    ...(state === undefined ? {} : { state: [state] }),
    ...(task === undefined ? {} : { task: [task] }),
    ...(lane === undefined ? {} : { lane }),
    ...(tag === undefined || colon === -1 ? {} : { tags: { [tag.slice(0, colon)]: tag.slice(colon + 1) } }),
    ...(keyPrefix === undefined ? {} : { keyPrefix }),
    ...(error === undefined ? {} : { error }),
  }
  return <BulkButton label="Change all of these" filter={filter} />
}

/** Opens an execution by its id or key. */
function GoTo() {
  const navigate = useNavigate()
  return (
    <input
      className="go-to"
      aria-label="Open an execution by its id or key"
      placeholder="Open id or key ⏎"
      onKeyDown={(event) => {
        const id = event.currentTarget.value.trim()
        if (event.key !== 'Enter' || id === '') return
        event.preventDefault()
        void navigate({ to: '/executions/$id', params: { id } })
      }}
    />
  )
}
