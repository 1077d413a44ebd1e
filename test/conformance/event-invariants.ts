/**
 * The log holds each execution's life without a gap: replayed from its first event, it leads by legal steps to exactly
 * the phase and the epoch of the record. So nothing happens untold, twice, or to something that does not exist. The same
 * holds of flows, see flow-event-invariants.ts.
 */
import { IN_LINE, UNDER_LEASE } from '../../src/kernel/index.ts'
import type { Execution, Phase } from '../../src/kernel/index.ts'
import type { PartitionDump, StoredEvent } from '../../src/stores/store.ts'
import { executionsOf } from './execution-invariants.ts'
import { flowEventProblems, isOfFlow } from './flow-event-invariants.ts'

/** One execution as replayed from the log so far. */
interface Life {
  phase: Phase
  epoch: number
  attempt: number
  /** Whether its present run has started. */
  hasStarted: boolean
  isCancelRequested: boolean
  isUnwinding: boolean
  /** A member may begin, or begin again, held back by what it depends on: the log has an event only when it no longer is. */
  mayBeBlocked: boolean
  /** Whether a limit holds it back. */
  isGated: boolean
  /** What its latest start changed. A limit that has no permit for it undoes the start. */
  before: Pick<Life, 'attempt' | 'hasStarted'>
}

export function eventProblems(dump: PartitionDump, firstSequence: number): string[] {
  const problems = orderProblems(dump.events, firstSequence)
  // Trimmed events cannot be replayed; the order of the rest is still checked.
  if (firstSequence > 1) return problems
  const lives = new Map<string, Life>()
  for (const event of dump.events) {
    if (isOfFlow(event)) continue
    const problem = follow(lives, event)
    if (problem !== undefined)
      problems.push(`event ${event.sequence} (${event.type}) of ${event.executionId}: ${problem}`)
  }
  for (const execution of executionsOf(dump)) {
    problems.push(...disagreements(execution, lives.get(execution.id)))
    lives.delete(execution.id)
  }
  for (const id of lives.keys()) problems.push(`the log has events of ${id}, which does not exist`)
  return [...problems, ...flowEventProblems(dump)]
}

export function orderProblems(events: readonly StoredEvent[], firstSequence: number): string[] {
  const problems: string[] = []
  events.forEach((event, i) => {
    const { sequence, at } = events[i - 1] ?? { sequence: firstSequence - 1, at: 0 }
    if (event.sequence !== sequence + 1) problems.push(`event ${sequence} is followed by ${event.sequence}`)
    if (event.at < at) problems.push(`event ${event.sequence} happened before the one ahead of it`)
  })
  return problems
}

/** Applies one event to one life. Returns what is wrong with it, if anything. */
function follow(lives: Map<string, Life>, event: StoredEvent): string | undefined {
  // Their subject is a schedule or a budget, by its name.
  if (event.type === 'schedule_changed' || event.type === 'schedule_skipped') return undefined
  if (event.type === 'budget_changed' || event.type === 'budget_warned' || event.type === 'budget_breached')
    return undefined
  const life = lives.get(event.executionId)
  if (event.type === 'execution_created') {
    if (life !== undefined) return 'it exists already'
    const mayBeBlocked = event.flowId !== undefined || event.effect === IN_LINE
    const begun = {
      epoch: 0,
      attempt: 0,
      hasStarted: false,
      isCancelRequested: false,
      isUnwinding: false,
      mayBeBlocked,
      isGated: false,
      before: { attempt: 0, hasStarted: false },
    }
    lives.set(event.executionId, { phase: phaseAfter(event), ...begun })
    return undefined
  }
  if (life === undefined) return 'it does not exist'
  const from = life.phase
  switch (event.type) {
    case 'execution_replaced':
      lives.set(event.executionId, {
        phase: phaseAfter(event),
        epoch: life.epoch,
        attempt: 0,
        hasStarted: false,
        isCancelRequested: false,
        isUnwinding: false,
        mayBeBlocked: event.effect === IN_LINE,
        isGated: false,
        before: { attempt: 0, hasStarted: false },
      })
      return from === 'ended' || !life.hasStarted ? undefined : 'it had begun'
    case 'follow_up_set':
    case 'follow_up_dropped':
      // An ended execution has one while its children are cancelled, of which events do not tell: its record is checked for that.
      return undefined
    case 'follow_up_started':
      life.phase = phaseAfter(event)
      life.hasStarted = false
      life.isCancelRequested = false
      life.isUnwinding = false
      life.mayBeBlocked = false
      return from === 'ended' ? undefined : 'it had not ended'
    case 'attempt_started':
      return start(life, event)
    case 'attempt_failed':
    case 'execution_delayed':
      life.phase = phaseAfter(event)
      life.mayBeBlocked = event.flowId !== undefined
      return from === 'active' && isOf(life, event) ? undefined : 'no worker held it'
    case 'lease_expired':
    case 'lease_revoked':
    case 'execution_released':
      life.phase = 'eligible'
      // A member of a flow that is held is blocked instead.
      life.mayBeBlocked = event.flowId !== undefined
      return from === 'active' && isOf(life, event) ? undefined : 'no worker held it'
    case 'execution_promoted':
      life.phase = 'eligible'
      return from === 'delayed' ? undefined : 'it was not delayed'
    case 'cancel_requested': {
      const isFirst = !life.isCancelRequested
      life.isCancelRequested = true
      return from === 'active' && isFirst ? undefined : 'no worker held it, or its cancellation was already requested'
    }
    case 'execution_unwinding': {
      const isFirst = !life.isUnwinding
      const isKept = event.effect === UNDER_LEASE
      if (isKept && (from !== 'active' || !isOf(life, event))) return 'no worker held it'
      if (!isKept) life.phase = 'eligible'
      life.isUnwinding = true
      life.mayBeBlocked = false
      return from !== 'ended' && isFirst ? undefined : 'it had ended, or was undoing its steps already'
    }
    case 'execution_ended':
      life.phase = 'ended'
      return from === 'ended' ? 'it had ended' : event.outcome === undefined ? 'it has no outcome' : undefined
    case 'execution_replayed':
      life.phase = 'eligible'
      life.isUnwinding = false
      life.mayBeBlocked = event.flowId !== undefined || event.effect === IN_LINE
      return from === 'ended' ? undefined : 'it had not ended'
    case 'order_continued':
      return from === 'ended' ? undefined : 'it had not ended'
    case 'execution_purged':
      lives.delete(event.executionId)
      return from === 'ended' ? undefined : 'it had not ended'
    case 'progress_updated':
      return from === 'active' ? undefined : 'no worker held it'
    case 'priority_changed':
      return from === 'ended' ? 'it had ended' : undefined
    case 'execution_blocked':
      life.phase = 'blocked'
      life.mayBeBlocked = false
      life.isGated = event.reason === 'limit'
      if (life.isGated && from === 'active') Object.assign(life, life.before)
      return from === 'ended' || from === 'blocked' ? `it was ${from}` : undefined
    case 'execution_unblocked': {
      const wasBlocked = from === 'blocked' || life.mayBeBlocked
      life.phase = phaseAfter(event)
      // What a limit releases may be held by its flow.
      life.mayBeBlocked = life.isGated && event.flowId !== undefined
      life.isGated = false
      return wasBlocked ? undefined : 'nothing held it back'
    }
    case 'tags_set':
      return undefined
    case 'step_recorded':
      return from === 'active' ? undefined : 'no worker held it'
    case 'execution_suspended':
      life.phase = 'suspended'
      return from === 'active' && isOf(life, event) ? undefined : 'no worker held it'
    case 'execution_resumed':
      life.phase = phaseAfter(event)
      life.mayBeBlocked = event.flowId !== undefined
      return from === 'suspended' && isOf(life, event) ? undefined : 'it did not wait'
    case 'wait_reminded':
    case 'wait_escalated':
      return from === 'suspended' ? undefined : 'it did not wait'
    case 'waitpoint_opened':
    case 'waitpoint_closed':
    case 'signal_received':
      return from === 'ended' ? 'it had ended' : undefined
    case 'flow_created':
    case 'flow_sealed':
    case 'flow_ended':
    case 'flow_cancelled':
    case 'flow_reopened':
    case 'flow_purged':
      return 'it is no flow'
    case 'worker_registered':
    case 'worker_unregistered':
    case 'worker_draining':
    case 'worker_lost':
    case 'worker_dead':
      return 'it is no worker'
    case 'lane_changed':
      return 'it is no lane'
  }
}

function phaseAfter(event: StoredEvent): Phase {
  return event.until === undefined ? 'eligible' : 'delayed'
}

function isOf(life: Life, event: StoredEvent): boolean {
  return event.epoch === life.epoch && event.attempt === life.attempt
}

function start(life: Life, event: StoredEvent): string | undefined {
  const { phase, epoch, attempt, hasStarted, isGated } = life
  life.before = { attempt, hasStarted }
  life.isGated = false
  life.phase = 'active'
  life.hasStarted = true
  life.epoch = event.epoch ?? 0
  life.attempt = event.attempt ?? 0
  life.isCancelRequested = false
  life.mayBeBlocked = false
  // Permits at hand let a worker start what a limit holds back.
  if (phase !== 'eligible' && !(phase === 'blocked' && isGated)) return `it was ${phase}`
  if (life.epoch !== epoch + 1) return `epoch ${life.epoch} follows ${epoch}`
  if (life.attempt !== attempt && life.attempt !== attempt + 1) return `attempt ${life.attempt} follows ${attempt}`
  return undefined
}

function disagreements(execution: Execution, life: Life | undefined): string[] {
  // Only its id is kept: by the log it is purged.
  if (execution.removed !== undefined) return life === undefined ? [] : [`${execution.id} was removed without an event`]
  if (life === undefined) return [`the log has no event of ${execution.id}`]
  const isBlocked = life.mayBeBlocked && life.phase !== 'ended' && execution.state.phase === 'blocked'
  const told = `${isBlocked ? 'blocked' : life.phase}, epoch ${life.epoch}, attempt ${life.attempt}`
  const found = `${execution.state.phase}, epoch ${execution.epoch}, attempt ${execution.attempt?.number ?? 0}`
  return told === found ? [] : [`the log leads ${execution.id} to ${told}, but it stands at ${found}`]
}
