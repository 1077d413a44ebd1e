import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { isOfLane, isOfWorker } from '../api/events.ts'
import { useLive } from '../api/live.ts'
import { executionStates } from '../api/types.ts'
import type { Lane } from '../api/types.ts'
import { State, stateWord } from '../parts/state.tsx'
import { Text } from '../parts/text.tsx'
import { Moment } from '../parts/time.tsx'
import { Failed, Loading, Page, Panel } from '../parts/views.tsx'
import { Activity } from './overview/activity.tsx'
import { Attention } from './overview/attention.tsx'
import { Causes } from './overview/causes.tsx'
import { Failures } from './overview/failures.tsx'

const EVERY_MS = 3_000

export function OverviewPage() {
  return (
    <Page title="Overview">
      <Tiles />
      <Attention />
      <Causes />
      <div className="columns">
        <Activity />
        <Failures />
      </div>
      <LaneDepths />
    </Page>
  )
}

function useLanes() {
  const query = useQuery({ queryKey: ['lanes'], queryFn: ({ signal }) => call('listLanes', { signal }) })
  useLive(isOfLane, () => void query.refetch(), EVERY_MS)
  return query
}

function totals(lanes: readonly Lane[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const { counts } of lanes) {
    for (const [state, count] of Object.entries(counts)) sums.set(state, (sums.get(state) ?? 0) + count)
  }
  return sums
}

function Tiles() {
  const lanes = useLanes()
  const workers = useQuery({
    queryKey: ['workers', 'first'],
    queryFn: ({ signal }) => call('listWorkers', { query: { limit: 200 }, signal }),
    refetchInterval: 10_000,
  })
  useLive(isOfWorker, () => void workers.refetch(), EVERY_MS)
  if (lanes.data === undefined)
    return lanes.error === null ? <Loading /> : <Failed error={lanes.error} retry={() => void lanes.refetch()} />
  const sums = totals(lanes.data.items)
  const oldest = Math.min(...lanes.data.items.map(({ waitingSince }) => waitingSince ?? Infinity))
  const running = workers.data?.items.filter(({ state }) => state === 'running') ?? []
  const slots = running.reduce((sum, worker) => sum + worker.slots, 0)
  const busy = running.reduce((sum, worker) => sum + worker.running, 0)
  return (
    <div className="tiles">
      {executionStates
        .filter((state) => TILES.includes(state) || (sums.get(state) ?? 0) > 0)
        .map((state) => (
          <Link key={state} to="/executions" search={{ state }} className="tile" data-state={state}>
            <span className="tile-value number">{(sums.get(state) ?? 0).toLocaleString('en')}</span>
            <span className="tile-name">{stateWord(state)}</span>
          </Link>
        ))}
      <Link to="/workers" className="tile">
        <span className="tile-value number">{running.length.toLocaleString('en')}</span>
        <span className="tile-name">
          live workers, {busy} of {slots} slots in use
        </span>
      </Link>
      {oldest !== Infinity && (
        <Link to="/lanes" className="tile">
          <span className="tile-value small-value">
            <Moment at={oldest} />
          </span>
          <span className="tile-name">the oldest waiting became ready</span>
        </Link>
      )}
    </div>
  )
}

/** These are shown also when there is none. */
const TILES: readonly string[] = ['waiting', 'active', 'suspended', 'completed', 'failed']

function LaneDepths() {
  const { data } = useLanes()
  if (data === undefined || data.items.length === 0) return null
  const waiting = ['waiting', 'delayed', 'rate_limited', 'waiting_dependencies', 'active', 'suspended'] as const
  return (
    <Panel title="Lanes" aside={<Link to="/lanes">All numbers and actions</Link>} isFlush>
      <table>
        <thead>
          <tr>
            <th scope="col">Lane</th>
            <th scope="col">State</th>
            {waiting.map((state) => (
              <th scope="col" className="number" key={state}>
                {stateWord(state)}
              </th>
            ))}
            <th scope="col">Oldest waiting</th>
          </tr>
        </thead>
        <tbody>
          {data.items.map(({ lane, state, counts, waitingSince }) => (
            <tr key={lane}>
              <td>
                <Link to="/executions" search={{ lane }}>
                  <Text>{lane}</Text>
                </Link>
              </td>
              <td>
                <State state={state} />
              </td>
              {waiting.map((each) => (
                <td className="number" key={each}>
                  {(counts[each] ?? 0).toLocaleString('en')}
                </td>
              ))}
              <td>{waitingSince !== undefined && <Moment at={waitingSince} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  )
}
