import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { allPages } from '../api/all-pages.ts'
import { call } from '../api/call.ts'
import { isOfSchedule } from '../api/events.ts'
import { useLive } from '../api/live.ts'
import type { ScheduleSummary } from '../api/types.ts'
import { ActionButton, ReasonField } from '../parts/action-button.tsx'
import { textOf } from '../parts/dialog.tsx'
import { OnceKey, onceKeyOf } from '../parts/once-key.tsx'
import { State } from '../parts/state.tsx'
import { Tags } from '../parts/tags.tsx'
import { Text } from '../parts/text.tsx'
import { Moment, durationText } from '../parts/time.tsx'
import { Backfill, DeleteSchedule } from './schedules/actions.tsx'
import { DefineSchedule, RetimeSchedule } from './schedules/define.tsx'
import { Empty, Facts, Loaded, Page, Panel } from '../parts/views.tsx'

const SCHEDULES_SHOWN = 2_000

export function SchedulesPage() {
  const query = useQuery({
    queryKey: ['schedules'],
    queryFn: ({ signal }) =>
      allPages((cursor) => call('listSchedules', { query: { cursor, limit: 200 }, signal }), SCHEDULES_SHOWN),
  })
  useLive(isOfSchedule, () => void query.refetch(), 2_000)
  return (
    <Page title="Schedules" actions={<DefineSchedule />}>
      <Loaded query={query}>
        {(schedules) =>
          schedules.length === 0 ? (
            <Empty title="There is no schedule">
              Create one here, with fabric.schedule(name, options), or with flowfabric schedules.
            </Empty>
          ) : (
            schedules.map((schedule) => (
              <SchedulePanel key={`${schedule.namespace}/${schedule.name}`} schedule={schedule} />
            ))
          )
        }
      </Loaded>
    </Page>
  )
}

function FiredLink({ fired }: { readonly fired: NonNullable<ScheduleSummary['fired']> }) {
  const { executionId, flowId = '', firedAt } = fired
  const moment = <Moment at={firedAt} />
  return executionId === undefined ? (
    <Link to="/flows/$id" params={{ id: flowId }}>
      {moment}
    </Link>
  ) : (
    <Link to="/executions/$id" params={{ id: executionId }}>
      {moment}
    </Link>
  )
}

function SchedulePanel({ schedule }: { readonly schedule: ScheduleSummary }) {
  const { cron, timeZone, everyMs, nextAt, fired, skipped, pause, state, name, tags, jitterMs, from, until } = schedule
  const times = cron === undefined ? `every ${durationText(everyMs ?? 0)}` : `${cron} (${timeZone ?? 'UTC'})`
  return (
    <Panel
      title={
        <>
          <Text>{name}</Text> <State state={state} />
        </>
      }
      aside={<ScheduleActions schedule={schedule} />}
    >
      <Facts
        facts={[
          [
            'Times',
            <Text key="times" className="mono">
              {times}
            </Text>,
          ],
          ['Jitter', jitterMs > 0 && `up to ${durationText(jitterMs)}`],
          ['From', from !== undefined && <Moment at={from} />],
          ['Until', until !== undefined && <Moment at={until} />],
          ['Next', nextAt !== undefined && state === 'active' && <Moment at={nextAt} />],
          [schedule.starts === 'flow' ? 'Flow' : 'Task', <Text key="task">{schedule.task}</Text>],
          ['Lane', schedule.lane !== undefined && <Text key="lane">{schedule.lane}</Text>],
          ['Fired', schedule.firedCount],
          ['Latest', fired !== undefined && <FiredLink fired={fired} />],
          [
            'Skipped',
            skipped !== undefined && (
              <>
                <Moment at={skipped.skippedAt} />: {skipped.reason.replaceAll('_', ' ')}
              </>
            ),
          ],
          ['If the last still runs', schedule.overlap.replaceAll('_', ' ')],
          ['Missed runs', schedule.missed],
          [
            'Paused',
            pause !== undefined && (
              <>
                by <Text>{pause.by}</Text>, <Moment at={pause.at} />
                {pause.reason !== undefined && (
                  <>
                    : <Text>{pause.reason}</Text>
                  </>
                )}
              </>
            ),
          ],
          ['Namespace', schedule.namespace !== 'default' && <Text>{schedule.namespace}</Text>],
          ['Declared by', schedule.owner !== undefined && <Text>{schedule.owner}</Text>],
          ['Tags', Object.keys(tags).length > 0 && <Tags tags={tags} />],
        ]}
      />
    </Panel>
  )
}

function ScheduleActions({ schedule }: { readonly schedule: ScheduleSummary }) {
  const { name, namespace, state, task } = schedule
  const asked = { params: { schedule: name }, query: { namespace } }
  const body = (fields: FormData) => {
    const reason = textOf(fields, 'reason')
    return reason === undefined ? {} : { reason }
  }
  return (
    <div className="actions">
      <ActionButton
        label="Run now"
        title={`Run “${name}” now?`}
        verb="Run it"
        act={(form) => call('triggerSchedule', { ...asked, key: onceKeyOf(form), body: body(form) })}
      >
        <p>
          It starts the task <Text>{task}</Text>, beside the times of the schedule.
        </p>
        <ReasonField />
        <OnceKey />
      </ActionButton>
      <RetimeSchedule schedule={schedule} />
      <Backfill schedule={schedule} />
      <ActionButton
        label="Pause"
        title={`Pause “${name}”?`}
        verb="Pause it"
        isOffered={state === 'active'}
        act={(form) => call('pauseSchedule', { ...asked, body: body(form) })}
      >
        <ReasonField />
      </ActionButton>
      <ActionButton
        label="Resume"
        title={`Resume “${name}”?`}
        verb="Resume it"
        isOffered={state === 'paused'}
        act={(form) => call('resumeSchedule', { ...asked, body: body(form) })}
      >
        <p>It fires again at its next time.</p>
        <ReasonField />
      </ActionButton>
      <DeleteSchedule schedule={schedule} />
    </div>
  )
}
