import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { isOfLane } from '../api/events.ts'
import { useLive } from '../api/live.ts'
import type { Lane, LaneHold, LaneLimit } from '../api/types.ts'
import { ActionButton, ReasonField } from '../parts/action-button.tsx'
import { Field, textOf } from '../parts/dialog.tsx'
import { Share } from '../parts/share.tsx'
import { State } from '../parts/state.tsx'
import { LimitLane } from './lanes/limit-lane.tsx'
import { Text } from '../parts/text.tsx'
import { Moment, durationText } from '../parts/time.tsx'
import { Empty, Facts, Loaded, Page, Panel } from '../parts/views.tsx'

/** Counting the ended of a minute reads the log, so it is not done for every event. */
const EVERY_MS = 3_000

export function LanesPage() {
  const query = useQuery({
    queryKey: ['lanes', 'rates'],
    queryFn: ({ signal }) => call('listLanes', { query: { rates: true }, signal }),
  })
  useLive(isOfLane, () => void query.refetch(), EVERY_MS)
  return (
    <Page title="Lanes">
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No lane is in use">A lane exists once an execution was submitted to it.</Empty>
          ) : (
            items.map((lane) => <LanePanel key={lane.lane} lane={lane} />)
          )
        }
      </Loaded>
    </Page>
  )
}

function LanePanel({ lane }: { readonly lane: Lane }) {
  const { hold, rates, waitingSince, heldTasks, limit, otherLimits, weight, tasks, counts } = lane
  return (
    <Panel
      title={
        <>
          <Link to="/executions" search={{ lane: lane.lane }}>
            <Text>{lane.lane}</Text>
          </Link>{' '}
          <State state={lane.state} />
        </>
      }
      aside={<LaneActions lane={lane} />}
    >
      <Share counts={counts} />
      <Facts
        facts={[
          ['Held', hold !== undefined && <Hold hold={hold} />],
          ['Oldest waiting', waitingSince !== undefined && <Moment at={waitingSince} />],
          ['Came in the last minute', rates && perMinute(rates.inPerMinute)],
          ['Ended in the last minute', rates && perMinute(rates.outPerMinute)],
          ['Weight', weight],
          ['Limit', limit !== undefined && limitWords(limit)],
          ...otherLimits.map((other) => [`Limit in ${other.namespace}`, limitWords(other)] as const),
          ['Tasks', tasks.length > 0 && <Text className="wide">{tasks.join(', ')}</Text>],
          ...heldTasks.map(({ task, hold: held }) => [`Task ${task}`, <Hold key={task} hold={held} />] as const),
        ]}
      />
    </Panel>
  )
}

function Hold({ hold }: { readonly hold: LaneHold }) {
  return (
    <>
      {hold.state} by <Text>{hold.by}</Text>, <Moment at={hold.at} />
      {hold.reason !== undefined && (
        <>
          : <Text>{hold.reason}</Text>
        </>
      )}
    </>
  )
}

function limitWords({ rate, concurrency }: LaneLimit): string {
  const parts = [
    rate !== undefined && `${rate.count} per ${durationText(rate.windowMs)}`,
    concurrency !== undefined && `${concurrency} at once`,
  ]
  return parts.filter((part) => part !== false).join(', ')
}

function LaneActions({ lane: { lane, state, heldTasks, weight, limit } }: { readonly lane: Lane }) {
  const params = { lane }
  const body = (fields: FormData) => {
    const [reason, task] = [textOf(fields, 'reason'), textOf(fields, 'task')]
    return { ...(reason === undefined ? {} : { reason }), ...(task === undefined ? {} : { task }) }
  }
  const fields = (
    <>
      <Field label="Task (optional)" hint="Only this task of the lane.">
        <input name="task" maxLength={128} />
      </Field>
      <ReasonField />
    </>
  )
  return (
    <div className="actions">
      <ActionButton
        label="Resume"
        title={`Resume lane “${lane}”?`}
        verb="Resume it"
        isOffered={state !== 'active' || heldTasks.length > 0}
        act={(form) => call('resumeLane', { params, body: body(form) })}
      >
        {fields}
      </ActionButton>
      <ActionButton
        label="Pause"
        title={`Pause lane “${lane}”?`}
        verb="Pause it"
        act={(form) => call('pauseLane', { params, body: body(form) })}
      >
        <p>Workers claim nothing more from it. What runs continues.</p>
        {fields}
      </ActionButton>
      <ActionButton
        label="Drain"
        title={`Drain lane “${lane}”?`}
        verb="Drain it"
        act={(form) => call('drainLane', { params, body: body(form) })}
      >
        <p>New executions are refused. Those in it still run.</p>
        {fields}
      </ActionButton>
      <ActionButton
        label="Disable"
        title={`Disable lane “${lane}”?`}
        verb="Disable it"
        isDangerous
        act={(form) => call('disableLane', { params, body: body(form) })}
      >
        <p>New executions are refused, and workers claim nothing more from it.</p>
        {fields}
      </ActionButton>
      <ActionButton
        label="Weight"
        title={`Set the weight of lane “${lane}”`}
        verb="Set it"
        act={(form) => call('setLaneWeight', { params, body: { weight: Number(form.get('weight')) } })}
      >
        <Field label="Weight" hint="Its share among the lanes that a worker serves.">
          <input name="weight" type="number" step="any" min={0.01} required defaultValue={weight ?? 1} />
        </Field>
      </ActionButton>
      <LimitLane lane={lane} limit={limit} />
    </div>
  )
}

/** A rate is a moving average, so it has fractions. */
function perMinute(rate: number): string {
  return rate.toLocaleString('en', { maximumFractionDigits: 1 })
}
