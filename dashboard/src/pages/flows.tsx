import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useRef } from 'react'
import type { SubmitEvent } from 'react'
import { call } from '../api/call.ts'
import { isOfFlow } from '../api/events.ts'
import { useLive } from '../api/live.ts'
import { flowStates } from '../api/types.ts'
import type { FlowSummary } from '../api/types.ts'
import { textOf } from '../parts/dialog.tsx'
import { Share } from '../parts/share.tsx'
import { State } from '../parts/state.tsx'
import { Text } from '../parts/text.tsx'
import { Elapsed, Moment } from '../parts/time.tsx'
import { Page } from '../parts/views.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import type { Column } from '../parts/virtual-list.tsx'
import { shareOf } from './flow/counts.ts'

const PAGE_ROWS = 100

const columns: readonly Column<FlowSummary>[] = [
  {
    name: 'Flow',
    width: 'minmax(16rem, 2fr)',
    cell: ({ id, key, name }) => (
      <Link to="/flows/$id" params={{ id }} className="row-link">
        <strong>
          <Text>{name}</Text>
        </strong>
        <span className="muted mono">
          <Text>{key ?? id}</Text>
        </span>
      </Link>
    ),
  },
  { name: 'State', width: '8rem', cell: ({ state }) => <State state={state} /> },
  { name: 'Members', width: 'minmax(14rem, 2fr)', cell: (flow) => <Share counts={shareOf(flow.counts)} /> },
  {
    name: 'Number',
    width: '5rem',
    cell: ({ memberCount }) => <span className="number">{memberCount.toLocaleString('en')}</span>,
  },
  { name: 'Created', width: '8.5rem', cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { name: 'Took', width: '7rem', cell: ({ createdAt, endedAt }) => <Elapsed from={createdAt} to={endedAt} /> },
]

export function FlowsPage() {
  const search = useSearch({ from: '/flows' })
  const navigate = useNavigate({ from: '/flows' })
  const refresh = useRef<() => void>(() => undefined)
  useLive(
    (event) => isOfFlow(event),
    () => refresh.current(),
  )
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    const [name, tag] = [textOf(fields, 'name'), textOf(fields, 'tag')]
    void navigate({
      search: ({ state }) => ({
        ...(state === undefined ? {} : { state }),
        ...(name === undefined ? {} : { name }),
        ...(tag === undefined ? {} : { tag }),
      }),
    })
  }
  return (
    <Page title="Flows">
      <div className="states" role="group" aria-label="State">
        {[undefined, ...flowStates].map((state) => (
          <Link
            key={state ?? 'all'}
            from="/flows"
            search={({ state: _, ...before }) => (state === undefined ? before : { ...before, state })}
            className="chip"
            aria-current={search.state === state ? 'true' : undefined}
          >
            {state ?? 'All'}
          </Link>
        ))}
      </div>
      <form className="filters" onSubmit={submit} key={JSON.stringify(search)} role="search">
        <input name="name" aria-label="Name" placeholder="Name" defaultValue={search.name} />
        <input
          name="tag"
          aria-label="Tag"
          placeholder="Tag, as plan:pro"
          defaultValue={search.tag}
          pattern="[^:]+:.*"
          title="A name, a colon and a value"
        />
        <button type="submit">Filter</button>
      </form>
      <VirtualList
        label="Flows"
        rowKey={['flows', search]}
        read={(cursor, signal) => call('listFlows', { query: { ...search, cursor, limit: PAGE_ROWS }, signal })}
        columns={columns}
        empty={<p className="muted">No flow fits these filters.</p>}
        onRefresh={(next) => (refresh.current = next)}
      />
    </Page>
  )
}
