/** Formats a member of a flow as one line: mark, name, state, duration, id, dependencies and a note. */
import { CONDITION_NOT_MET, bucketOf, isFailure } from '../../kernel/index.ts'
import type {
  EdgeGroup,
  Execution,
  ExecutionState,
  Failure,
  Instant,
  MemberBucket,
  MemberView,
  PublicFlowState,
} from '../../kernel/index.ts'
import { nameOf, rankOf } from './flow-levels.ts'
import type { Graph } from './flow-levels.ts'
import { isIgnored } from './ignored-failure.ts'
import { firstLine, printable } from './printable.ts'
import { stateText } from './state-text.ts'
import type { Painter } from './state-text.ts'
import { durationText, relativeTime } from './time-text.ts'

/** With more upstreams, only the first few are named. */
const NAMED_UPSTREAM_MAX = 5
const NAMED_UPSTREAM_COUNT = 3
/** The most characters of a text from outside. */
const FOREIGN_TEXT_MAX = 100

const marks: Readonly<Record<MemberBucket, string>> = {
  waiting: '○',
  delayed: '◔',
  rate_limited: '◔',
  waiting_dependencies: '·',
  active: '●',
  suspended: '‖',
  completed: '✓',
  failed: '✗',
  cancelled: '■',
  expired: '✗',
  skipped: '↷',
  superseded: '■',
}

/** The graph that is drawn, and the time of the drawing. */
export interface Scene {
  readonly graph: Graph
  readonly at: Instant
  readonly flowState: PublicFlowState
  readonly painter: Painter
}

/** The cells of a member's row. The gutter shows its place in the graph. */
export function memberRow(view: MemberView, gutter: string, scene: Scene): string[] {
  const { graph, at, painter } = scene
  const bucket = bucketOf(view.execution)
  return [
    `${gutter}${stateText(bucket, painter, marks[bucket])} ${printable(nameOf(view))}`,
    stateText(bucket, painter),
    tookText(view.execution, at),
    painter.style('dim', view.execution.id),
    afterText(view, graph, painter),
    noteText(view, bucket, scene),
  ]
}

/** The duration from the first start, or the first start since the last replay, to the end or to now. */
function tookText(execution: Execution, at: Instant): string {
  const { state, startedAt, attempt, lastReplay } = execution
  if (state.phase !== 'active' && state.phase !== 'ended') return ''
  const begunAt = lastReplay === undefined ? startedAt : attempt?.startedAt
  if (begunAt === undefined || begunAt < (lastReplay?.at ?? begunAt)) return ''
  return durationText((state.phase === 'ended' ? state.at : at) - begunAt)
}

function afterText(view: MemberView, graph: Graph, painter: Painter): string {
  const group = view.execution.member?.group
  if (group === undefined || view.upstreams.length === 0) return ''
  const names = namesText(view.upstreams, graph)
  const isPlain = view.upstreams.length === 1 && group.policy !== 'ended'
  const condition = view.execution.member?.hasCondition === true ? ', if its condition is met' : ''
  return painter.style('dim', `after ${isPlain ? '' : `${policyText(group)} `}${names}${condition}`)
}

function policyText({ policy, need, total }: EdgeGroup): string {
  switch (policy) {
    case 'all_of':
      return 'all of'
    case 'any_of':
      return 'any of'
    case 'quorum':
      return `${need} of ${total}:`
    case 'ended':
      return 'the end of'
  }
}

function namesText(upstreams: MemberView['upstreams'], graph: Graph): string {
  const known = upstreams.map(({ executionId }) => graph.members.get(executionId)).filter((view) => view !== undefined)
  const names = known.sort((a, b) => rankOf(a) - rankOf(b)).map((view) => printable(nameOf(view)))
  if (upstreams.length <= NAMED_UPSTREAM_MAX) return names.join(', ')
  const named = names.slice(0, NAMED_UPSTREAM_COUNT)
  return `${named.join(', ')} and ${upstreams.length - named.length} more`
}

/** Explains the state of a member. */
function noteText(view: MemberView, bucket: MemberBucket, { graph, at, flowState }: Scene): string {
  const { execution } = view
  const { state } = execution
  switch (state.phase) {
    case 'eligible':
      return `ready for ${durationText(at - execution.changedAt)}`
    case 'delayed':
      return `${state.cause === 'retry' ? 'retried ' : ''}${relativeTime(state.until, at)}`
    case 'blocked':
      return state.by === 'dependencies' ? waitText(view, graph) : 'held'
    case 'active':
      return runningText(execution, state, at)
    case 'suspended':
      return ''
    case 'ended':
      return isFailure(bucket) && isIgnored(view, flowState)
        ? `ignored: ${endText(execution, state, bucket, graph)}`
        : endText(execution, state, bucket, graph)
  }
}

/** The open dependencies, unless all are open. */
function waitText(view: MemberView, graph: Graph): string {
  const group = view.execution.member?.group
  const open = view.upstreams.filter(({ isOpen }) => isOpen)
  if (group === undefined || open.length === view.upstreams.length) return ''
  if (group.policy === 'all_of') return `waits for ${namesText(open, graph)}`
  if (group.policy === 'ended') return `waits for the end of ${namesText(open, graph)}`
  const lost = group.failed + group.skipped
  return `${group.completed} of ${group.need} completed${lost === 0 ? '' : `, ${lost} did not`}, ${open.length} open`
}

function runningText(
  { attempt, retry, progress }: Execution,
  { lease, cancel }: Extract<ExecutionState, { phase: 'active' }>,
  at: Instant,
): string {
  const number = attempt?.number ?? 1
  return [
    `on ${printable(lease.workerId)}`,
    number > 1 ? `attempt ${number}${number <= retry.attempts ? ` of ${retry.attempts}` : ''}` : undefined,
    progress?.percent === undefined ? undefined : `${progress.percent}%`,
    progress?.message === undefined ? undefined : foreign(progress.message),
    cancel === undefined ? undefined : 'cancel requested',
    lease.expiresAt <= at ? 'lease expired' : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(', ')
}

function endText(
  { failure, member }: Execution,
  { outcome, reason, by }: Extract<ExecutionState, { phase: 'ended' }>,
  bucket: MemberBucket,
  graph: Graph,
): string {
  switch (outcome) {
    case 'completed':
      return ''
    case 'failed':
    case 'expired':
      return failure === undefined ? foreign(reason ?? '') : failureText(failure)
    case 'cancelled':
      return bucket === 'superseded' ? 'others were enough' : `${foreign(reason ?? '')} (${printable(by ?? '')})`
    case 'skipped':
      if (reason === CONDITION_NOT_MET) return 'its condition was not met'
      return by === undefined ? '' : `because ${decidedBy(by, graph)}${quorumText(member?.group)}`
  }
}

function failureText({ category, message }: Failure): string {
  return `${printable(category)}: ${foreign(message)}`
}

/** Names the upstream that caused the skip. It may have been replayed since. */
function decidedBy(id: string, graph: Graph): string {
  const view = graph.members.get(id)
  if (view === undefined) return `${id} did not complete`
  const name = printable(nameOf(view))
  const { state } = view.execution
  if (state.phase !== 'ended' || state.outcome === 'completed') return `${name} had not completed`
  return state.outcome === 'failed' || state.outcome === 'expired'
    ? `${name} ${state.outcome}`
    : `${name} was ${state.outcome}`
}

function quorumText(group: EdgeGroup | undefined): string {
  if (group === undefined || group.policy === 'all_of' || group.total === 1) return ''
  return ` too: ${group.completed} of ${group.need} completed`
}

function foreign(text: string): string {
  const line = firstLine(text)
  return line.length <= FOREIGN_TEXT_MAX ? line : `${line.slice(0, FOREIGN_TEXT_MAX - 1)}…`
}
