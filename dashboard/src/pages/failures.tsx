/** Failed executions by their cause. Each group can be replayed as a whole, once its cause is gone. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { SubmitEvent } from 'react'
import { call } from '../api/call.ts'
import type { AnswerOf } from '../api/call.ts'
import { useLive } from '../api/live.ts'
import { textOf } from '../parts/dialog.tsx'
import { Text } from '../parts/text.tsx'
import { Moment } from '../parts/time.tsx'
import { Empty, Loaded, Page, Panel } from '../parts/views.tsx'
import { BulkButton } from './executions/bulk.tsx'

const EVERY_MS = 5_000
const FIELDS = ['task', 'lane', 'error'] as const

type FailureGroup = AnswerOf<'listFailures'>['groups'][number]

export function FailuresPage() {
  const search = useSearch({ from: '/failures' })
  const query = useQuery({
    queryKey: ['failure-groups', search],
    queryFn: ({ signal }) => call('listFailures', { query: search, signal }),
  })
  useLive(
    (event) => event.type === 'execution_ended' || event.type === 'execution_replayed',
    () => void query.refetch(),
    EVERY_MS,
  )
  return (
    <Page title="Errors">
      <Filters />
      <Loaded query={query}>
        {({ groups, examined, isCut }) =>
          groups.length === 0 ? (
            <Empty title="No failed execution is kept">
              {Object.keys(search).length > 0 && 'None fits these filters.'}
            </Empty>
          ) : (
            <Panel
              title={`${groups.length.toLocaleString('en')} causes of ${examined.toLocaleString('en')} failures`}
              aside={isCut && <span className="muted">the newest ones; older failures are not counted</span>}
              isFlush
            >
              <table>
                <thead>
                  <tr>
                    <th scope="col" className="number">
                      Count
                    </th>
                    <th scope="col">Task</th>
                    <th scope="col">Cause</th>
                    <th scope="col">Latest</th>
                    <th scope="col">Actions</th>
                  </tr>
                </thead>
                <tbody>
                  {groups.map((group) => (
                    <GroupRow
                      key={`${group.task} ${group.category} ${group.message}`}
                      group={group}
                      lane={search.lane}
                    />
                  ))}
                </tbody>
              </table>
            </Panel>
          )
        }
      </Loaded>
    </Page>
  )
}

function Filters() {
  const search = useSearch({ from: '/failures' })
  const navigate = useNavigate({ from: '/failures' })
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
      <input name="task" aria-label="Task" placeholder="Task" defaultValue={search.task} />
      <input name="lane" aria-label="Lane" placeholder="Lane" defaultValue={search.lane} />
      <input name="error" aria-label="Error" placeholder="Error category" defaultValue={search.error} />
      <button type="submit">Filter</button>
      {Object.keys(search).length > 0 && (
        <Link to="/failures" className="button">
          Clear
        </Link>
      )}
    </form>
  )
}

function GroupRow({ group, lane }: { readonly group: FailureGroup; readonly lane: string | undefined }) {
  const { task, category, message, count, lastAt, examples } = group
  const filter = {
    state: ['failed' as const],
    task: [task],
    ...(category === '' ? {} : { error: category }),
    ...(message === '' ? {} : { message }),
    ...(lane === undefined ? {} : { lane }),
  }
  return (
    <tr>
      <td className="number">{count.toLocaleString('en')}</td>
      <td className="breakable">
        <Link to="/executions" search={{ task, state: 'failed', ...(category === '' ? {} : { error: category }) }}>
          <Text>{task}</Text>
        </Link>
      </td>
      <td className="breakable">
        <Text>{category === '' ? message : `${category}: ${message}`}</Text>
        <span className="muted small block">
          as{' '}
          {examples.slice(0, 3).map((id, i) => (
            <span key={id}>
              {i > 0 && ', '}
              <Link to="/executions/$id" params={{ id }} className="mono">
                <Text>{id}</Text>
              </Link>
            </span>
          ))}
        </span>
      </td>
      <td>{lastAt !== undefined && <Moment at={lastAt} />}</td>
      <td>
        <div className="actions">
          <BulkButton label="Replay all" filter={filter} kinds={['replay']} />
        </div>
      </td>
    </tr>
  )
}
