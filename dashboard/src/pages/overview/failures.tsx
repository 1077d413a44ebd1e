import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call } from '../../api/call.ts'
import { useLive } from '../../api/live.ts'
import type { ExecutionSummary } from '../../api/types.ts'
import { Text } from '../../parts/text.tsx'
import { Moment } from '../../parts/time.tsx'
import { Empty, Loaded, Panel } from '../../parts/views.tsx'

/** The newest failed executions that are grouped. */
const READ = 100
const GROUPS_SHOWN = 8

interface Group {
  readonly newest: ExecutionSummary
  readonly count: number
  readonly text: string
}

/** Failures of one task with one message are one group. */
export function Failures() {
  const query = useQuery({
    queryKey: ['failures'],
    queryFn: ({ signal }) => call('listExecutions', { query: { state: 'failed', limit: READ }, signal }),
  })
  useLive(
    (event) => event.type === 'execution_ended' && event.outcome === 'failed',
    () => void query.refetch(),
    3_000,
  )
  return (
    <Panel
      title="Failures"
      aside={
        <Link to="/executions" search={{ state: 'failed' }}>
          All
        </Link>
      }
      isFlush
    >
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No failed execution is kept" />
          ) : (
            <ul className="causes">
              {groupsOf(items).map(({ newest, count, text }) => (
                <li key={newest.id}>
                  <p className="cause-head">
                    <span className="number">{count} ×</span>
                    <Link to="/executions/$id" params={{ id: newest.id }}>
                      <Text>{newest.task}</Text>
                    </Link>
                    <span className="muted">
                      <Moment at={newest.endedAt ?? newest.changedAt} />
                    </span>
                  </p>
                  <p className="clip">
                    <Text>{text}</Text>
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  )
}

function groupsOf(items: readonly ExecutionSummary[]): readonly Group[] {
  const groups = new Map<string, Group>()
  for (const execution of items) {
    const { failure, task } = execution
    const text = failure === undefined ? 'failed' : `${failure.category}: ${failure.message.split('\n', 1)[0] ?? ''}`
    const key = `${task} ${text.replace(/\d+/g, '')}`
    const known = groups.get(key)
    groups.set(key, known === undefined ? { newest: execution, count: 1, text } : { ...known, count: known.count + 1 })
  }
  return [...groups.values()].sort((a, b) => b.count - a.count).slice(0, GROUPS_SHOWN)
}
