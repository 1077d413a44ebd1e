/** What operators did over the servers of the store: who, what, why, and whether it was refused. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { SubmitEvent } from 'react'
import { call } from '../api/call.ts'
import type { AuditEntry } from '../api/types.ts'
import { textOf } from '../parts/dialog.tsx'
import { MoreButton, useMorePages } from '../parts/more-pages.tsx'
import { Text } from '../parts/text.tsx'
import { Moment } from '../parts/time.tsx'
import { Empty, Loaded, Page, Panel } from '../parts/views.tsx'

const POLL_MS = 5_000
const PAGE_ROWS = 100
const FIELDS = ['by', 'action', 'target'] as const

export function AuditPage() {
  const search = useSearch({ from: '/audit' })
  const query = useMorePages({
    queryKey: ['audit', search],
    read: (cursor, signal) => call('listAudit', { query: { ...search, cursor, limit: PAGE_ROWS }, signal }),
    refetchInterval: POLL_MS,
  })
  return (
    <Page title="Audit">
      <Filters />
      <Loaded query={query}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items)
          return (
            <>
              {pages[0]?.isKept === false && (
                <p className="muted">
                  The store keeps no trail for this server, so this begins when the server was started. Start it with
                  --audit to keep the trail in a file.
                </p>
              )}
              {items.length === 0 ? (
                <Empty title="No action is recorded">
                  {Object.keys(search).length > 0 && 'None fits these filters.'}
                </Empty>
              ) : (
                <Entries items={items} />
              )}
            </>
          )
        }}
      </Loaded>
      <MoreButton query={query} label="Show earlier actions" />
    </Page>
  )
}

function Filters() {
  const search = useSearch({ from: '/audit' })
  const navigate = useNavigate({ from: '/audit' })
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const given = FIELDS.flatMap((name) => {
      const value = textOf(form, name)
      return value === undefined ? [] : [[name, value] as const]
    })
    void navigate({ search: Object.fromEntries(given) })
  }
  return (
    <form className="filters" onSubmit={submit} key={JSON.stringify(search)} role="search">
      <input name="by" aria-label="Person" placeholder="Person" defaultValue={search.by} />
      <input name="action" aria-label="Action" placeholder="Action" defaultValue={search.action} />
      <input name="target" aria-label="Target" placeholder="Id or name" defaultValue={search.target} />
      <button type="submit">Filter</button>
      {Object.keys(search).length > 0 && (
        <Link to="/audit" className="button">
          Clear
        </Link>
      )}
    </form>
  )
}

function Entries({ items }: { readonly items: readonly AuditEntry[] }) {
  return (
    <Panel title="Actions" aside={<span className="muted">the latest first</span>} isFlush>
      <table>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Who</th>
            <th scope="col">Action</th>
            <th scope="col">Target</th>
            <th scope="col">Reason</th>
            <th scope="col">Outcome</th>
          </tr>
        </thead>
        <tbody>
          {items.map((entry, i) => (
            <EntryRow key={`${entry.requestId} ${entry.action} ${i}`} entry={entry} />
          ))}
        </tbody>
      </table>
    </Panel>
  )
}

function EntryRow({ entry }: { readonly entry: AuditEntry }) {
  const { at, credential, by, role, namespace, address, action, reason, status, code } = entry
  const isRefused = status >= 400
  return (
    <tr>
      <td>
        <Moment at={at} />
      </td>
      <td>
        <Text>{by ?? credential}</Text>
        <span className="muted small block">
          <Text>
            {[by === undefined || by === credential ? role : `${credential}, ${role}`, address ?? '']
              .filter(Boolean)
              .join(' · ')}
          </Text>
        </span>
      </td>
      <td>
        <Text>{actionWords(action)}</Text>
        {namespace !== undefined && (
          <span className="muted small block">
            in <Text>{namespace}</Text>
          </span>
        )}
      </td>
      <td>
        <Target entry={entry} />
      </td>
      <td>{reason !== undefined && <Text>{reason}</Text>}</td>
      <td>
        {isRefused ? (
          <span className="refused">
            <Text>{(code ?? String(status)).replaceAll('_', ' ')}</Text>
          </span>
        ) : (
          <span className="muted">done</span>
        )}
      </td>
    </tr>
  )
}

function Target({ entry: { action, target } }: { readonly entry: AuditEntry }) {
  const { id } = target
  const words = Object.values(target).join(' / ')
  if (id === undefined || !/Execution|Tags|Priority|Lease|Waitpoint/.test(action))
    return <Text className="mono">{words}</Text>
  return (
    <Link to="/executions/$id" params={{ id }} className="mono">
      <Text>{words}</Text>
    </Link>
  )
}

/** `cancelExecution` is shown as `cancel execution`. */
function actionWords(action: string): string {
  return action.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}
