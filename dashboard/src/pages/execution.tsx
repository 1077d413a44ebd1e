import { useQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { useLive } from '../api/live.ts'
import type { Execution } from '../api/types.ts'
import { Tags } from '../parts/tags.tsx'
import { State } from '../parts/state.tsx'
import { Text } from '../parts/text.tsx'
import { Elapsed, Moment } from '../parts/time.tsx'
import { Facts, Loaded, Page, Panel } from '../parts/views.tsx'
import { ExecutionActions } from './execution/actions.tsx'
import { Events } from './execution/events.tsx'
import { Failure } from './execution/failure.tsx'
import { Frames } from './execution/frames.tsx'
import { Logs } from './execution/logs.tsx'
import { Spending } from './execution/spending.tsx'
import { Timeline } from './execution/timeline.tsx'
import { Values } from './execution/values.tsx'
import { Waits } from './execution/waits.tsx'
import { Why } from './execution/why.tsx'

const tabs = [
  { tab: undefined, label: 'Timeline' },
  { tab: 'values', label: 'Input and result' },
  { tab: 'waits', label: 'Waits and signals' },
  { tab: 'frames', label: 'Frames' },
  { tab: 'logs', label: 'Logs' },
  { tab: 'ledger', label: 'Ledger' },
  { tab: 'events', label: 'Events' },
] as const

export function ExecutionPage() {
  const { id } = useParams({ from: '/executions/$id' })
  const query = useQuery({
    queryKey: ['execution', id],
    queryFn: ({ signal }) => call('describeExecution', { params: { id }, signal }),
  })
  const ownId = query.data?.id
  useLive(
    (event) => event.executionId === ownId,
    () => void query.refetch(),
    500,
  )
  return <Loaded query={query}>{(execution) => <Described execution={execution} key={execution.id} />}</Loaded>
}

function Described({ execution }: { readonly execution: Execution }) {
  const { tab } = useSearch({ from: '/executions/$id' })
  return (
    <Page
      title={
        <>
          <Text>{execution.task}</Text> <State state={execution.state} />
        </>
      }
      actions={<ExecutionActions execution={execution} />}
    >
      <p className="identity mono">
        <Text>{execution.key ?? execution.id}</Text>
        {execution.key !== undefined && (
          <span className="muted">
            {' '}
            <Text>{execution.id}</Text>
          </span>
        )}
      </p>
      <Why execution={execution} />
      <Panel title="Facts">
        <Facts facts={factsOf(execution)} />
      </Panel>
      {execution.failure !== undefined && <Failure title="Failure" failure={execution.failure} />}
      {execution.undoFailure !== undefined && <Failure title="Failure while undoing" failure={execution.undoFailure} />}
      <nav className="tabs" aria-label="Parts of the execution">
        {tabs.map((each) => (
          <Link
            key={each.label}
            from="/executions/$id"
            search={each.tab === undefined ? {} : { tab: each.tab }}
            aria-current={tab === each.tab || (tab === 'timeline' && each.tab === undefined) ? 'page' : undefined}
          >
            {each.label}
          </Link>
        ))}
      </nav>
      {(tab === undefined || tab === 'timeline') && <Timeline execution={execution} />}
      {tab === 'values' && <Values execution={execution} />}
      {tab === 'waits' && <Waits execution={execution} />}
      {tab === 'frames' && <Frames id={execution.id} />}
      {tab === 'logs' && <Logs id={execution.id} />}
      {tab === 'ledger' && <Spending id={execution.id} />}
      {tab === 'events' && <Events id={execution.id} />}
    </Page>
  )
}

function factsOf(execution: Execution) {
  const { lease, flowId, parent, progress, deadlineAt, delayedUntil, endedAt, purgeAt, startedAt, createdAt } =
    execution
  return [
    ['Created', <Moment at={createdAt} />],
    ['Started', startedAt !== undefined && <Moment at={startedAt} />],
    ['Runs since', startedAt !== undefined && endedAt === undefined && <Elapsed from={startedAt} />],
    ['Ended', endedAt !== undefined && <Moment at={endedAt} />],
    ['Took', startedAt !== undefined && endedAt !== undefined && <Elapsed from={startedAt} to={endedAt} />],
    ['Waited to start', startedAt !== undefined && <Elapsed from={createdAt} to={startedAt} />],
    ['Delayed until', delayedUntil !== undefined && <Moment at={delayedUntil} />],
    ['Deadline', deadlineAt !== undefined && <Moment at={deadlineAt} />],
    ['Kept until', purgeAt !== undefined && <Moment at={purgeAt} />],
    [
      'Lane',
      <Link to="/executions" search={{ lane: execution.lane }}>
        <Text>{execution.lane}</Text>
      </Link>,
    ],
    ['Priority', execution.priority],
    ['Attempt', `${execution.attempt} of ${execution.attemptsAllowed}`],
    ['Failures', execution.failureCount > 0 && execution.failureCount],
    ['Lost leases', execution.reclaimCount > 0 && execution.reclaimCount],
    ['Replays', execution.replayCount > 0 && execution.replayCount],
    ['Needs', execution.needs.length > 0 && <Text>{execution.needs.join(', ')}</Text>],
    ['Worker', lease !== undefined && <Text>{lease.workerId}</Text>],
    ['Lease until', lease !== undefined && <Moment at={lease.expiresAt} />],
    ['Progress', progress !== undefined && <Progress {...progress} />],
    ['Version', execution.version],
    ['Namespace', execution.namespace !== 'default' && <Text>{execution.namespace}</Text>],
    [
      'Flow',
      flowId !== undefined && (
        <Link to="/flows/$id" params={{ id: flowId }}>
          <Text>{execution.node ?? flowId}</Text>
        </Link>
      ),
    ],
    [
      'Parent',
      parent !== undefined && (
        <Link to="/executions/$id" params={{ id: parent.id }}>
          <Text>{parent.name}</Text>
        </Link>
      ),
    ],
    ['Tags', Object.keys(execution.tags).length > 0 && <Tags tags={execution.tags} />],
  ] as const
}

function Progress({ percent, message }: { readonly percent?: number; readonly message?: string }) {
  return (
    <>
      {percent !== undefined && (
        <>
          <progress max={100} value={percent} aria-label="Progress" /> {Math.round(percent)} %{' '}
        </>
      )}
      {message !== undefined && <Text>{message}</Text>}
    </>
  )
}
