import { useQuery } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { isOfWorker } from '../api/events.ts'
import { useLive } from '../api/live.ts'
import type { Worker } from '../api/types.ts'
import { ActionButton, ReasonField } from '../parts/action-button.tsx'
import { textOf } from '../parts/dialog.tsx'
import { State } from '../parts/state.tsx'
import { Text } from '../parts/text.tsx'
import { Moment } from '../parts/time.tsx'
import { Empty, Facts, Loaded, Page, Panel } from '../parts/views.tsx'
import { allPages } from '../api/all-pages.ts'

/** Heartbeats are no events. */
const POLL_MS = 10_000
const WORKERS_SHOWN = 1_000

export function WorkersPage() {
  const query = useQuery({
    queryKey: ['workers'],
    queryFn: ({ signal }) =>
      allPages((cursor) => call('listWorkers', { query: { cursor, limit: 200 }, signal }), WORKERS_SHOWN),
    refetchInterval: POLL_MS,
  })
  useLive(isOfWorker, () => void query.refetch(), 2_000)
  return (
    <Page title="Workers">
      <Loaded query={query}>
        {(workers) =>
          workers.length === 0 ? (
            <Empty title="No worker is registered">Start one with fabric.work(handlers), or flowfabric dev.</Empty>
          ) : (
            workers.map((worker) => <WorkerPanel key={worker.instanceId} worker={worker} />)
          )
        }
      </Loaded>
    </Page>
  )
}

function WorkerPanel({ worker }: { readonly worker: Worker }) {
  const { running, slots, drain, lanes, tasks, capabilities } = worker
  return (
    <Panel
      title={
        <>
          <Text>{worker.workerId}</Text> <State state={worker.state} />
        </>
      }
      aside={<WorkerActions worker={worker} />}
    >
      <Facts
        facts={[
          [
            'Busy',
            <span className="number" key="busy">
              <meter min={0} max={Math.max(1, slots)} value={running} aria-label="Slots in use" /> {running} of {slots}
            </span>,
          ],
          ['Heartbeat', <Moment at={worker.heartbeatAt} key="heartbeat" />],
          ['Started', <Moment at={worker.startedAt} key="started" />],
          ['Host', worker.host !== '' && <Text key="host">{`${worker.host}, process ${worker.pid}`}</Text>],
          ['Version', worker.version !== '' && <Text key="version">{worker.version}</Text>],
          ['Lanes', <Text key="lanes">{lanes.join(', ')}</Text>],
          [
            'Tasks',
            <Text key="tasks" className="wide">
              {tasks.map(taskWords).join(', ')}
            </Text>,
          ],
          ['Capabilities', capabilities.length > 0 && <Text>{capabilities.join(', ')}</Text>],
          ['Namespace', worker.namespace !== undefined && <Text>{worker.namespace}</Text>],
          [
            'Draining',
            drain !== undefined && (
              <>
                since <Moment at={drain.at} />
                {drain.by !== undefined && (
                  <>
                    {' '}
                    by <Text>{drain.by}</Text>
                  </>
                )}
              </>
            ),
          ],
          ['Reason', worker.reason !== undefined && <Text>{worker.reason}</Text>],
          [
            'Process',
            <Text key="instance" className="mono wide">
              {worker.instanceId}
            </Text>,
          ],
        ]}
      />
    </Panel>
  )
}

function taskWords({ name, version }: Worker['tasks'][number]): string {
  return version === undefined ? name : `${name} (version ${version})`
}

function WorkerActions({ worker: { instanceId, workerId, state } }: { readonly worker: Worker }) {
  const params = { id: instanceId }
  return (
    <div className="actions">
      <ActionButton
        label="Drain"
        title={`Drain worker “${workerId}”?`}
        verb="Drain it"
        isOffered={state === 'running'}
        act={(form) => {
          const reason = textOf(form, 'reason')
          return call('drainWorker', { params, body: reason === undefined ? {} : { reason } })
        }}
      >
        <p>It finishes what it runs, claims nothing more and stops.</p>
        <ReasonField max={100} />
      </ActionButton>
      <ActionButton
        label="Declare dead"
        title={`Declare worker “${workerId}” dead?`}
        verb="Its process has ended"
        role="admin"
        isDangerous
        isOffered={state !== 'dead'}
        act={(form) => call('markWorkerDead', { params, body: { reason: textOf(form, 'reason') ?? '' } })}
      >
        <p>What it holds is handed to others at once. If its process still runs, work may run twice.</p>
        <ReasonField isRequired max={100} />
      </ActionButton>
    </div>
  )
}
