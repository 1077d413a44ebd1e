/** Attempts, steps, waits, children and signals of an execution, to scale. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { call } from '../../api/call.ts'
import { useMay } from '../../api/session.tsx'
import type { Execution, Signal, Step } from '../../api/types.ts'
import { Value } from '../../parts/json.tsx'
import { State } from '../../parts/state.tsx'
import { Text } from '../../parts/text.tsx'
import { durationText, instantText, useNow } from '../../parts/time.tsx'
import { Empty, Failed, Loading, Panel } from '../../parts/views.tsx'
import { ReplayDialog } from './actions.tsx'

const STEPS_SHOWN = 200

interface Row {
  readonly key: string
  readonly kind: string
  readonly label: ReactNode
  readonly state: string
  readonly from: number
  /** Absent until it ends. */
  readonly to: number | undefined
  readonly detail: ReactNode
}

export function Timeline({ execution }: { readonly execution: Execution }) {
  const { id, changedAt, journal } = execution
  const query = useQuery({
    queryKey: ['journal', id, changedAt, journal.stepCount, journal.signalCount],
    queryFn: async ({ signal }) => {
      const query = { limit: STEPS_SHOWN }
      const [steps, signals] = await Promise.all([
        call('listSteps', { params: { id }, query, signal }),
        call('listSignals', { params: { id }, query, signal }),
      ])
      return { steps, signals }
    },
    placeholderData: (before) => before,
  })
  const now = useNow()
  if (query.data === undefined) return query.error === null ? <Loading /> : <Failed error={query.error} />
  const { steps, signals } = query.data
  const rows = [
    ...attemptRows(execution),
    ...steps.items.map((step, i) => stepRow(execution, step, i === 0 ? undefined : steps.items[i - 1])),
    ...signals.items.map(signalRow),
  ].sort((a, b) => a.from - b.from)
  const start = execution.createdAt
  const end = execution.endedAt ?? Math.max(now, execution.at)
  return (
    <Panel title="Timeline" aside={<span className="muted number">{durationText(end - start)} in all</span>} isFlush>
      {rows.length === 0 && <Empty title="No attempt yet">It has not started, so it has recorded nothing.</Empty>}
      <ol className="timeline">
        {rows.map((row) => (
          <TimelineRow key={row.key} row={row} start={start} end={end} />
        ))}
      </ol>
      {steps.cursor !== undefined && <p className="muted note">Only the first {STEPS_SHOWN} steps are shown.</p>}
    </Panel>
  )
}

function TimelineRow({ row, start, end }: { readonly row: Row; readonly start: number; readonly end: number }) {
  const length = Math.max(1, end - start)
  const left = percent((row.from - start) / length)
  const width = percent(((row.to ?? end) - row.from) / length)
  const took = row.to === undefined ? durationText(end - row.from) : durationText(row.to - row.from)
  return (
    <li>
      <details>
        <summary>
          <span className="timeline-kind">{row.kind}</span>
          <span className="timeline-label">{row.label}</span>
          <span className="timeline-track" aria-hidden="true">
            <span
              className="timeline-bar"
              data-state={row.state}
              data-open={row.to === undefined}
              style={{ left: `${left}%`, width: `max(4px, ${Math.min(width, 100 - left)}%)` }}
            />
          </span>
          <State state={row.state} />
          <span className="number timeline-took">{row.to === row.from ? '' : took}</span>
        </summary>
        <div className="timeline-detail">
          <p className="muted">
            {instantText(row.from)}
            {row.to !== undefined && row.to !== row.from && ` to ${instantText(row.to)}`}
          </p>
          {row.detail}
        </div>
      </details>
    </li>
  )
}

function percent(share: number): number {
  return Math.round(Math.min(1, Math.max(0, share)) * 1_000) / 10
}

function attemptRows({ attempts, lease, attempt, startedAt, endedAt, outcome, state }: Execution): Row[] {
  const rows: Row[] = attempts.map((each) => ({
    key: `attempt ${each.number} ${each.epoch}`,
    kind: 'Attempt',
    label: `${each.number}${each.kind === 'initial' ? '' : ` (${each.kind})`}`,
    state: each.outcome,
    from: each.startedAt,
    to: each.endedAt,
    detail: (
      <>
        <p>
          Worker <Text>{each.workerId}</Text>, process <Text>{each.workerInstanceId}</Text>.
        </p>
        {each.failure !== undefined && (
          <pre tabIndex={0}>
            <Text>{`${each.failure.category}: ${each.failure.message}\n${each.failure.stack ?? ''}`}</Text>
          </pre>
        )}
      </>
    ),
  }))
  const last = attempts.at(-1)
  if (startedAt === undefined || attempt === 0 || (last !== undefined && last.number >= attempt)) return rows
  // An attempt that simply completed has no record of its own.
  rows.push({
    key: `attempt ${attempt}`,
    kind: 'Attempt',
    label: String(attempt),
    state: outcome ?? state,
    from: last === undefined ? startedAt : (lease?.acquiredAt ?? last.endedAt),
    to: endedAt,
    detail:
      lease === undefined ? null : (
        <p>
          Worker <Text>{lease.workerId}</Text>, with a lease until {instantText(lease.expiresAt)}.
        </p>
      ),
  })
  return rows
}

/** A step is recorded when it has completed, so it began at the end of the one before it at the earliest. */
function stepRow(execution: Execution, step: Step, before: Step | undefined): Row {
  const isOpen = step.state === 'open'
  const isWait = step.kind !== 'call'
  const beganAt = isWait ? step.createdAt : Math.max(before?.changedAt ?? 0, execution.startedAt ?? execution.createdAt)
  return {
    key: `step ${step.position}`,
    kind: kindWord(step.kind),
    label: <Text>{step.name}</Text>,
    state: isOpen ? 'suspended' : step.state,
    from: Math.min(beganAt, step.createdAt),
    to: isOpen ? undefined : step.changedAt,
    detail: <StepDetail execution={execution} step={step} />,
  }
}

function kindWord(kind: string): string {
  if (kind === 'call') return 'Step'
  return kind.charAt(0).toUpperCase() + kind.slice(1).replaceAll('_', ' ')
}

function StepDetail({ execution, step }: { readonly execution: Execution; readonly step: Step }) {
  const [isShown, setShown] = useState(false)
  const [isReplaying, setReplaying] = useState(false)
  const mayReplay = useMay('operator') && execution.outcome !== undefined && execution.flowId === undefined
  const { wait, child, join, failure } = step
  const facts = [
    step.attemptCount > 1 && `${step.attemptCount} tries`,
    step.size > 0 && `${step.size.toLocaleString('en')} bytes`,
    step.how !== undefined && `ended: ${step.how.replaceAll('_', ' ')}`,
    step.by !== undefined && `by ${step.by}`,
    step.reason,
    step.retryAt !== undefined && `retried at ${instantText(step.retryAt)}`,
    wait?.until !== undefined && `until ${instantText(wait.until)}, then ${wait.onTimeout.replaceAll('_', ' ')}`,
    wait?.isEscalated === true && 'escalated',
    ...(wait?.counts ?? []).map(({ name, has, need }) => `${has} of ${need}${name === undefined ? '' : ` ${name}`}`),
    join !== undefined && `${join.completed} of ${join.total} completed, ${join.failed} failed`,
  ].filter((fact) => typeof fact === 'string')
  return (
    <>
      {facts.length > 0 && (
        <p>
          <Text>{facts.join(' · ')}</Text>
        </p>
      )}
      {child !== undefined && (
        <p>
          <Link to="/executions/$id" params={{ id: child.id }}>
            Open the child
          </Link>
        </p>
      )}
      {failure !== undefined && (
        <pre tabIndex={0}>
          <Text>{`${failure.category}: ${failure.message}\n${failure.stack ?? ''}`}</Text>
        </pre>
      )}
      <p className="actions">
        {step.size > 0 && failure === undefined && !isShown && (
          <button type="button" onClick={() => setShown(true)}>
            Show its value
          </button>
        )}
        {mayReplay && (
          <button type="button" onClick={() => setReplaying(true)}>
            Replay from here
          </button>
        )}
      </p>
      {isShown && <StepValue id={execution.id} step={step} />}
      {isReplaying && <ReplayDialog execution={execution} fromStep={step.name} onClose={() => setReplaying(false)} />}
    </>
  )
}

/** Values may be large and confidential, so one is read only when it is asked for. */
function StepValue({ id, step }: { readonly id: string; readonly step: Step }) {
  const query = useQuery({
    queryKey: ['step', id, step.position, step.changedAt],
    queryFn: async ({ signal }) => {
      const cursor = step.position > 0 ? `n1.${step.position}` : undefined
      const { items } = await call('listSteps', { params: { id }, query: { values: true, limit: 1, cursor }, signal })
      return items[0] ?? null
    },
  })
  if (query.data === undefined) return query.error === null ? <Loading /> : <Failed error={query.error} />
  return (
    <Value value={query.data?.value} bytes={query.data?.valueBytes} label={`value of ${step.name}`} absent="None." />
  )
}

function signalRow(signal: Signal): Row {
  return {
    key: `signal ${signal.sequence}`,
    kind: 'Signal',
    label: <Text>{signal.name}</Text>,
    state: signal.effect,
    from: signal.at,
    to: signal.at,
    detail: (
      <p>
        From <Text>{`${signal.by.type} ${signal.by.identity}`}</Text>
        {signal.waitpoint !== undefined && (
          <>
            {' '}
            at <Text>{signal.waitpoint}</Text>
          </>
        )}
        , {signal.size.toLocaleString('en')} bytes.
      </p>
    ),
  }
}
