/** Explains why an execution is not running: the facts, from which the client makes a sentence. */
import { readEdgeGuard } from '../../lifecycle/flows/inbound.ts'
import {
  OPEN_EDGES,
  gatedIndex,
  inboundIndex,
  laneIndex,
  lineIndex,
  readyIndex,
  stepsIndex,
} from '../../model/indexes.ts'
import type { LimitCause } from '../../model/limit-schema.ts'
import { currentStep } from '../../lifecycle/find-step.ts'
import type { Join, Step, StepKind, TimeoutBehaviour } from '../../model/journal-schema.ts'
import { AHEAD_COUNT_MAX, EXPLAIN_STEP_COUNT, IN_DEGREE_MAX, NAMED_MEMBER_MAX } from '../../limits.ts'
import type {
  BlockCause,
  CancelRequest,
  DelayCause,
  EdgeGroup,
  Execution,
  ExecutionId,
  Failure,
  InputRefusals,
  Instant,
  LaneHold,
  Outcome,
  ShapingKind,
  Unwinding,
} from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { sendersOf } from '../../rules/condition.ts'
import { scopeOf, stepKey } from '../../rules/journal-ids.ts'
import { claimHoldOf } from '../../rules/lane-state.ts'
import { claimScore, unwindingUntil } from '../../rules/execution-state.ts'
import { publicState } from '../../model/public-state.ts'
import type { PublicState } from '../../model/public-state.ts'
import type { Tx } from '../../tx.ts'

export interface ExplainInput {
  readonly executionId: ExecutionId
}

export type Explanation =
  | {
      readonly why: 'waits_for_worker'
      readonly since: Instant
      readonly lane: string
      readonly task: string
      readonly version: number | undefined
      readonly namespace: string
      /** What a worker must be capable of. */
      readonly needs: readonly string[]
      /** Executions of the same queue that are claimed before it; counting stops at `aheadLimit`. */
      readonly ahead: number
      readonly aheadLimit: number
      readonly refusals: InputRefusals | undefined
      /** Active executions of the lane. None may mean that no worker serves it. */
      readonly activeInLane: number
      /** What keeps workers from it: a hold of its lane, or of its task alone. */
      readonly hold: LaneHold | undefined
      readonly isTaskHeld: boolean
    }
  | {
      readonly why: 'delayed'
      readonly until: Instant
      readonly cause: DelayCause
      /** Set if workers refused its input, which is then the cause of the delay. */
      readonly refusals: InputRefusals | undefined
      readonly failure: Failure | undefined
      readonly failureCount: number
      readonly attempts: number
      /** The delay is over: it becomes claimable with the next pass of a worker or an engine. */
      readonly isOverdue: boolean
    }
  | {
      readonly why: 'blocked'
      readonly by: BlockCause
      readonly since: Instant
      /** The first few members that it waits for, and how many there are. */
      readonly waitsFor: { readonly executionId: ExecutionId; readonly name: string; readonly state: PublicState }[]
      readonly waitsForCount: number
      readonly group: EdgeGroup | undefined
      /** Set if a limit blocks it. */
      readonly limit: LimitBlock | undefined
      /** Set if earlier executions of its shaping key block it. */
      readonly line: LineBlock | undefined
    }
  | {
      readonly why: 'running'
      readonly attempt: number
      readonly since: Instant
      readonly workerId: string
      readonly workerInstanceId: string
      readonly leaseExpiresAt: Instant
      readonly isLeaseExpired: boolean
      readonly cancel: CancelRequest | undefined
    }
  | {
      readonly why: 'suspended'
      readonly since: Instant
      /** The name of the wait, sleep or step. */
      readonly step: string
      readonly stepKind: StepKind
      readonly reason: string
      readonly until: Instant | undefined
      /** The time is over: the timeout is applied with the next pass of a worker or an engine. */
      readonly isOverdue: boolean
      readonly onTimeout: TimeoutBehaviour | undefined
      readonly isEscalated: boolean
      /** The targets that accept a signal, and how many signals have counted so far. */
      readonly targets: string[]
      /** The identities whose signals count; empty: those of anyone. */
      readonly from: string[]
      readonly satisfierCount: number
      /** The progress of the first few leaves of its condition. */
      readonly counts: { readonly name: string | undefined; readonly has: number; readonly need: number }[]
    }
  | {
      readonly why: 'waits_for_children'
      readonly since: Instant
      /** The name of the join. */
      readonly step: string
      readonly join: Join
      /** The first few children that have not ended. */
      readonly waitsFor: { readonly executionId: ExecutionId; readonly name: string; readonly state: PublicState }[]
    }
  | {
      readonly why: 'ended'
      readonly outcome: Outcome
      readonly endedAt: Instant
      readonly reason: string | undefined
      readonly by: string | undefined
      readonly failure: Failure | undefined
      /** What went wrong while its steps were undone. */
      readonly undoFailure: Failure | undefined
    }

/** The limit that blocks an execution. */
export interface LimitBlock {
  readonly limit: string
  readonly key: string
  readonly cause: LimitCause
  /** When the next executions are released. A release of permits may do it before. */
  readonly until: Instant
  /** Executions that wait for the same key in this partition and are released before it; counting stops at `aheadLimit`. */
  readonly ahead: number
  readonly aheadLimit: number
}

/** The line of a shaping key in which an execution waits. */
export interface LineBlock {
  readonly kind: ShapingKind
  readonly key: string
  /** The execution whose turn it is. */
  readonly current: { readonly executionId: ExecutionId; readonly state: PublicState } | undefined
  /** Since when the failure of that execution holds back the others. */
  readonly heldSince: Instant | undefined
  /** Executions that wait before it, without the current one; counting stops at `aheadLimit`. */
  readonly ahead: number
  readonly aheadLimit: number
}

export type ExplainResult =
  | {
      readonly kind: 'explained'
      readonly explanation: Explanation
      /** Set while it undoes its steps. */
      readonly unwinding: (Unwinding & { readonly endsAt: Instant }) | undefined
      readonly at: Instant
    }
  | Refused<'execution_not_found'>

export function explainExecution(tx: Tx, input: ExplainInput): ExplainResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  return { kind: 'explained', explanation: explain(tx, execution), unwinding: unwindingOf(execution), at: tx.now }
}

function unwindingOf(execution: Execution): (Unwinding & { readonly endsAt: Instant }) | undefined {
  const { unwinding, state } = execution
  const endsAt = unwindingUntil(execution)
  return unwinding === undefined || endsAt === undefined || state.phase === 'ended'
    ? undefined
    : { ...unwinding, endsAt }
}

function explain(tx: Tx, execution: Execution): Explanation {
  const state = execution.state
  switch (state.phase) {
    case 'eligible':
      return explainWaiting(tx, execution)
    case 'delayed':
      return {
        why: 'delayed',
        until: state.until,
        cause: state.cause,
        refusals: execution.refusals,
        failure: execution.failure,
        failureCount: execution.failureCount,
        attempts: execution.retry.attempts,
        isOverdue: state.until <= tx.now,
      }
    case 'blocked':
      return explainBlocked(tx, execution, state.by, state.gate)
    case 'active':
      return {
        why: 'running',
        attempt: execution.attempt?.number ?? 0,
        since: state.lease.acquiredAt,
        workerId: state.lease.workerId,
        workerInstanceId: state.lease.workerInstanceId,
        leaseExpiresAt: state.lease.expiresAt,
        isLeaseExpired: state.lease.expiresAt <= tx.now,
        cancel: state.cancel,
      }
    case 'suspended':
      return explainSuspended(tx, execution, state.reason, state.until)
    case 'ended':
      return {
        why: 'ended',
        outcome: state.outcome,
        endedAt: state.at,
        reason: state.reason,
        by: state.by,
        failure: execution.failure,
        undoFailure: execution.unwinding?.undoFailure,
      }
  }
}

function explainSuspended(tx: Tx, execution: Execution, reason: string, until: Instant | undefined): Explanation {
  const step = currentStep(tx, execution)
  if (step === undefined) return tx.fault('a suspended execution waits in no step', execution.id)
  if (step.join !== undefined) return explainJoin(tx, execution, step, step.join)
  const counts: { readonly name: string | undefined; readonly has: number; readonly need: number }[] = []
  for (const { kind, name, has, need } of step.wait?.nodes ?? []) {
    if (kind === 'leaf' && counts.length < NAMED_MEMBER_MAX) counts.push({ name, has, need })
  }
  return {
    why: 'suspended',
    since: execution.changedAt,
    step: step.name,
    stepKind: step.kind,
    reason,
    until,
    isOverdue: until !== undefined && until <= tx.now,
    onTimeout: step.wait?.onTimeout,
    isEscalated: step.wait?.isEscalated === true,
    targets: step.wait?.targets ?? [],
    from: sendersOf(step.wait?.nodes ?? []),
    satisfierCount: step.wait?.satisfiers.length ?? 0,
    counts,
  }
}

/** Finds the children among the first steps of the journal. An execution with very many may wait for later ones. */
function explainJoin(tx: Tx, execution: Execution, joinStep: Step, join: Join): Explanation {
  const key = stepKey('join', joinStep.name)
  const steps = tx.scan(
    { index: stepsIndex(scopeOf(execution.id, execution.journal)), limit: EXPLAIN_STEP_COUNT },
    'step',
  )
  const open: Step[] = []
  for (const step of steps) {
    const mark = step.state.phase === 'open' ? step.child?.mark : undefined
    if (open.length === NAMED_MEMBER_MAX) break
    if (mark?.join === key && mark.position === joinStep.position) open.push(step)
  }
  const ids: string[] = []
  for (const step of open) ids.push(step.child?.executionId ?? '')
  const waitsFor: { readonly executionId: ExecutionId; readonly name: string; readonly state: PublicState }[] = []
  for (const child of tx.getMany('execution', ids)) {
    waitsFor.push({ executionId: child.id, name: child.parent?.name ?? '', state: publicState(child.state) })
  }
  return { why: 'waits_for_children', since: execution.changedAt, step: joinStep.name, join, waitsFor }
}

function explainBlocked(tx: Tx, execution: Execution, by: BlockCause, gateId: string | undefined): Explanation {
  const waitsFor: { readonly executionId: ExecutionId; readonly name: string; readonly state: PublicState }[] = []
  const open = { index: inboundIndex(execution.id), to: OPEN_EDGES }
  readEdgeGuard(tx, execution)
  const count = by === 'dependencies' ? tx.countUpTo({ index: open.index, to: open.to, limit: IN_DEGREE_MAX }) : 0
  if (count > 0) {
    const range = { index: open.index, to: open.to, limit: NAMED_MEMBER_MAX }
    for (const upstream of tx.scan(range, 'execution')) {
      waitsFor.push({
        executionId: upstream.id,
        name: upstream.member?.name ?? '',
        state: publicState(upstream.state),
      })
    }
  }
  const group = execution.member?.group
  const limit = gateId === undefined ? undefined : limitBlockOf(tx, execution, gateId)
  const line = by === 'order' ? lineBlockOf(tx, execution) : undefined
  return { why: 'blocked', by, since: execution.changedAt, waitsFor, waitsForCount: count, group, limit, line }
}

function lineBlockOf(tx: Tx, { id, shaping }: Execution): LineBlock {
  const key = shaping === undefined ? undefined : tx.get('shaping_key', shaping.id)
  if (shaping === undefined || key === undefined)
    return tx.fault('an execution waits in a line that does not exist', id)
  const current = key.current === undefined ? undefined : tx.get('execution', key.current)
  const upToHere = tx.countUpTo({ index: lineIndex(key.id), to: shaping.place, limit: AHEAD_COUNT_MAX + 1 })
  return {
    kind: key.kind,
    key: key.key,
    current: current === undefined ? undefined : { executionId: current.id, state: publicState(current.state) },
    heldSince: key.heldSince,
    ahead: Math.max(0, upToHere - 1),
    aheadLimit: AHEAD_COUNT_MAX,
  }
}

function limitBlockOf(tx: Tx, execution: Execution, gateId: string): LimitBlock {
  const gate = tx.get('gate', gateId)
  if (gate === undefined) return tx.fault('an execution is blocked by a gate that does not exist', execution.id)
  const { limit, key, cause, until } = gate
  const upToHere = tx.countUpTo({
    index: gatedIndex(gateId),
    to: claimScore(execution),
    limit: AHEAD_COUNT_MAX + 1,
  })
  return { limit, key, cause, until, ahead: Math.max(0, upToHere - 1), aheadLimit: AHEAD_COUNT_MAX }
}

function explainWaiting(tx: Tx, execution: Execution): Explanation {
  const upToHere = tx.countUpTo({
    index: readyIndex(execution.lane, execution.class),
    to: claimScore(execution),
    limit: AHEAD_COUNT_MAX + 1,
  })
  const lane = tx.get('lane', execution.lane)
  const hold = claimHoldOf(lane, execution.task)
  return {
    why: 'waits_for_worker',
    since: execution.changedAt,
    lane: execution.lane,
    task: execution.task,
    version: execution.version,
    namespace: execution.namespace,
    needs: execution.needs ?? [],
    refusals: execution.refusals,
    // The count includes the execution itself, and any that were created in the same millisecond.
    ahead: Math.max(0, upToHere - 1),
    aheadLimit: AHEAD_COUNT_MAX,
    activeInLane: tx.countUpTo({ index: laneIndex(execution.lane, 'active'), limit: AHEAD_COUNT_MAX }),
    hold,
    isTaskHeld: hold !== undefined && hold !== lane?.hold,
  }
}
