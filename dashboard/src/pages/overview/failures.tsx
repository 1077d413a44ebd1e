import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call } from '../../api/call.ts'
import { useLive } from '../../api/live.ts'
import { Text } from '../../parts/text.tsx'
import { Moment } from '../../parts/time.tsx'
import { Empty, Loaded, Panel } from '../../parts/views.tsx'

const GROUPS_SHOWN = 8
const EVERY_MS = 3_000
const EXAMINED = 500

/** The largest groups of failures with one cause. */
export function Failures() {
  const query = useQuery({
    queryKey: ['failures'],
    queryFn: ({ signal }) => call('listFailures', { query: { examine: EXAMINED }, signal }),
  })
  useLive(
    (event) => event.type === 'execution_ended' && event.outcome === 'failed',
    () => void query.refetch(),
    EVERY_MS,
  )
  return (
    <Panel title="Errors" aside={<Link to="/failures">All causes</Link>} isFlush>
      <Loaded query={query}>
        {({ groups }) =>
          groups.length === 0 ? (
            <Empty title="No failed execution is kept" />
          ) : (
            <ul className="causes">
              {groups.slice(0, GROUPS_SHOWN).map(({ task, category, message, count, lastAt, examples }) => (
                <li key={`${task} ${category} ${message}`}>
                  <p className="cause-head">
                    <span className="number">{count.toLocaleString('en')} ×</span>
                    <Link to="/executions/$id" params={{ id: examples[0] ?? '' }}>
                      <Text>{task}</Text>
                    </Link>
                    {lastAt !== undefined && (
                      <span className="muted">
                        <Moment at={lastAt} />
                      </span>
                    )}
                  </p>
                  <p className="clip">
                    <Text>{category === '' ? message : `${category}: ${message}`}</Text>
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
