/** The public description of an execution. */
import type {
  Attempt,
  DescribeResult,
  EdgeGroup,
  Execution,
  ExecutionId,
  Failure,
  FiringCause,
  FlowId,
  InputRefusals,
  Instant,
  Journal,
  Lease,
  Outcome,
  Progress,
  PublicState,
  ShapingKind,
} from '../../kernel/index.ts'
import {
  SEPARATOR,
  bucketOf,
  isExcused,
  isFailure,
  isKeptForParent,
  keptMsOf,
  publicState,
  unwindingUntil,
} from '../../kernel/index.ts'
import { tagsToObject } from '../checks/names.ts'
import type { Tags } from '../checks/names.ts'
import { decodeShown } from '../checks/payload.ts'

/** Where an execution or a flow of a schedule comes from. */
export interface ScheduleOrigin {
  readonly name: string
  readonly at: Instant
  readonly cause: FiringCause
}

/** The key by which a submit was shaped. */
export interface ShapingOrigin {
  readonly kind: ShapingKind
  readonly key: string
  /** It has failed, and later executions of its key wait for an operator. */
  readonly holdsBack: boolean
}

export interface ExecutionSummary {
  readonly id: ExecutionId
  readonly key: string | undefined
  readonly namespace: string
  readonly task: string
  /** The version of the task at the submit. */
  readonly version: number | undefined
  readonly lane: string
  /** What a worker must be capable of to run it. */
  readonly needs: readonly string[]
  /** The schedule that created it, the boundary, and whether that was by hand. */
  readonly schedule: ScheduleOrigin | undefined
  /** The key by which its submit was shaped. */
  readonly shaping: ShapingOrigin | undefined
  readonly state: PublicState
  readonly priority: number
  readonly tags: Tags
  readonly attempt: number
  readonly attemptsAllowed: number
  readonly failureCount: number
  readonly reclaimCount: number
  readonly replayCount: number
  readonly createdAt: Instant
  readonly changedAt: Instant
  readonly startedAt: Instant | undefined
  readonly endedAt: Instant | undefined
  readonly delayedUntil: Instant | undefined
  readonly deadlineAt: Instant | undefined
  readonly purgeAt: Instant | undefined
  /** Until when its id stays taken after its end, if that is longer than its retention. */
  readonly idTakenUntil: Instant | undefined
  /** Set if its retention is over and only its id is kept. */
  readonly removed: Removal | undefined
  /** Set if it runs once more when its present run has ended. */
  readonly followUp: PendingFollowUp | undefined
  /** The digest of its input, if it was submitted with an id. */
  readonly inputDigest: string | undefined
  readonly outcome: Outcome | undefined
  readonly reason: string | undefined
  readonly by: string | undefined
  readonly progress: Progress | undefined
  readonly failure: Failure | undefined
  /** What went wrong while its steps were undone. */
  readonly undoFailure: Failure | undefined
  /** How often workers refused its input, because it does not fit their schemas, and why. A run of its handler clears it. */
  readonly refusals: InputRefusals | undefined
  readonly lease: Lease | undefined
  /** The current wait, during which no worker is occupied. */
  readonly suspension: Suspension | undefined
  /** Counts of its steps, waitpoints and signals. */
  readonly journal: JournalCounts
  readonly cancelRequested: { readonly reason: string; readonly by: string; readonly forceAt: Instant } | undefined
  /** The flow that it is a member of, and its name there. */
  readonly flowId: FlowId | undefined
  readonly node: string | undefined
  /** The execution whose handler has started it. */
  readonly parent: ParentSummary | undefined
  /** Its upstreams: how many, and their group policy. */
  readonly dependencies: Dependencies | undefined
  /** Whether it was cancelled because its race was decided without it. */
  readonly isSuperseded: boolean
  /** Whether it did not complete and that does not make its flow fail: an edge ignores it, or a condition skipped it. */
  readonly isExcused: boolean
}

export interface Removal {
  readonly at: Instant
  /** Whether it had a result, which was removed. */
  readonly hadResult: boolean
}

export interface PendingFollowUp {
  readonly task: string
  /** When it was submitted. */
  readonly since: Instant
}

/** The parent of a child. */
export interface ParentSummary {
  readonly id: ExecutionId
  /** The name of the child in its parent. */
  readonly name: string
  /** Whether the parent neither waits for it nor stops it. */
  readonly isDetached: boolean
}

/** A child of an execution. */
export interface ChildSummary {
  readonly id: ExecutionId
  /** Its name in its parent. */
  readonly name: string
  /** Undefined while it has not ended, and for a detached child. */
  readonly outcome: Outcome | undefined
  readonly isDetached: boolean
  readonly startedAt: Instant
}

export interface Suspension {
  /** The name of the wait, the sleep or the step. */
  readonly step: string
  /** The kind of wait: `signal`, `approval`, `sleep` and so on. */
  readonly reason: string
  readonly since: Instant
  /** When it resumes or times out, if nothing ends the wait earlier. */
  readonly until: Instant | undefined
}

export interface JournalCounts {
  readonly stepCount: number
  /** Bytes of the values and failures of all steps. */
  readonly stepBytes: number
  readonly signalCount: number
  /** Buffered signals, which no wait has consumed yet. */
  readonly bufferedCount: number
  readonly openWaitpointCount: number
  /** Registered compensations. */
  readonly compensationCount: number
}

/** The upstreams of a member, as a group. */
export type Dependencies = Readonly<Omit<EdgeGroup, 'owedFrom'>>

export interface ExecutionDescription extends ExecutionSummary {
  /** Ended attempts, oldest first. */
  readonly attempts: readonly Omit<Attempt, 'type' | 'id' | 'executionId'>[]
  readonly input: unknown
  readonly result: unknown
  /** The results of its upstreams, by name. Undefined unless requested. */
  readonly inputs: Readonly<Record<string, unknown>> | undefined
  /** The store's clock when it was read. */
  readonly at: Instant
}

export function originOf({ schedule }: Pick<Execution, 'schedule'>): ScheduleOrigin | undefined {
  if (schedule === undefined) return undefined
  const { id, at, cause } = schedule
  return { name: id.slice(id.indexOf(SEPARATOR) + SEPARATOR.length), at, cause }
}

function shapingOf({ shaping }: Execution): ShapingOrigin | undefined {
  if (shaping === undefined) return undefined
  return { kind: shaping.kind, key: shaping.key, holdsBack: shaping.holdsBack === true }
}

export function summarise(execution: Execution): ExecutionSummary {
  const { state, member } = execution
  const ended = state.phase === 'ended' ? state : undefined
  return {
    id: execution.id,
    key: execution.key,
    namespace: execution.namespace,
    task: execution.task,
    version: execution.version,
    lane: execution.lane,
    needs: execution.needs ?? [],
    schedule: originOf(execution),
    shaping: shapingOf(execution),
    state: publicState(state),
    priority: execution.priority,
    tags: tagsToObject(execution.tags),
    attempt: execution.attempt?.number ?? 0,
    attemptsAllowed: execution.retry.attempts,
    failureCount: execution.failureCount,
    reclaimCount: execution.reclaimCount,
    replayCount: execution.replayCount,
    createdAt: execution.createdAt,
    changedAt: execution.changedAt,
    startedAt: execution.startedAt,
    endedAt: ended?.at,
    delayedUntil: state.phase === 'delayed' ? state.until : undefined,
    deadlineAt: execution.deadlineAt,
    purgeAt: ended === undefined || isKeptForAnother(execution) ? undefined : ended.at + keptMsOf(execution),
    idTakenUntil: idTakenUntil(execution),
    removed: execution.removed,
    followUp: followUpOf(execution),
    inputDigest: execution.digest,
    outcome: ended?.outcome,
    reason: ended?.reason,
    by: ended?.by,
    progress: execution.progress,
    failure: execution.failure,
    undoFailure: execution.unwinding?.undoFailure,
    refusals: execution.refusals,
    lease: state.phase === 'active' ? state.lease : undefined,
    suspension: suspensionOf(execution),
    journal: journalCounts(execution.journal),
    cancelRequested: cancelRequestOf(execution),
    flowId: member?.flowId,
    node: member?.name,
    parent: parentOf(execution),
    dependencies: dependenciesOf(member?.group),
    isSuperseded: bucketOf(execution) === 'superseded',
    isExcused: isExcused(execution) || (member?.mayFail === true && isFailure(bucketOf(execution))),
  }
}

function idTakenUntil(execution: Execution): Instant | undefined {
  const { state, dedupeMs } = execution
  if (state.phase !== 'ended' || dedupeMs === undefined || dedupeMs <= keptMsOf(execution)) return undefined
  return state.at + dedupeMs
}

function followUpOf({ followUp }: Execution): PendingFollowUp | undefined {
  return followUp === undefined ? undefined : { task: followUp.task, since: followUp.at }
}

/** A member is kept as long as its flow, and a child as long as its parent may need its result. */
function isKeptForAnother(execution: Execution): boolean {
  return execution.member !== undefined || isKeptForParent(execution) || execution.shaping?.holdsBack === true
}

function parentOf({ parent }: Execution): ParentSummary | undefined {
  if (parent === undefined) return undefined
  return { id: parent.executionId, name: parent.name, isDetached: parent.isDetached === true }
}

function cancelRequestOf(execution: Execution): ExecutionDescription['cancelRequested'] {
  const { state, unwinding } = execution
  if (state.phase === 'active' && state.cancel !== undefined) return state.cancel
  const forceAt = unwindingUntil(execution)
  if (unwinding === undefined || forceAt === undefined || state.phase === 'ended') return undefined
  return { reason: unwinding.reason, by: unwinding.by ?? 'engine', forceAt }
}

function suspensionOf({ state, changedAt }: Execution): Suspension | undefined {
  if (state.phase !== 'suspended') return undefined
  const { step, reason, until } = state
  return { step: step.slice(step.indexOf(SEPARATOR) + 1), reason, since: changedAt, until }
}

function journalCounts(journal: Journal | undefined): JournalCounts {
  return {
    stepCount: journal?.stepCount ?? 0,
    stepBytes: journal?.stepBytes ?? 0,
    signalCount: journal?.signalCount ?? 0,
    bufferedCount: journal?.bufferedCount ?? 0,
    openWaitpointCount: journal?.open.length ?? 0,
    compensationCount: journal?.compensationCount ?? 0,
  }
}

function dependenciesOf(group: EdgeGroup | undefined): Dependencies | undefined {
  if (group === undefined) return undefined
  const { owedFrom: _owedFrom, ...dependencies } = group
  return dependencies
}

export function describe(
  result: Extract<DescribeResult, { kind: 'described' }>,
  blobs: readonly Uint8Array[],
  inputs?: Readonly<Record<string, unknown>>,
): ExecutionDescription {
  const { execution } = result
  return {
    ...summarise(execution),
    attempts: result.attempts.map(({ type: _type, id: _id, executionId: _executionId, ...attempt }) => attempt),
    input: decodeShown(execution.payload, blobs[result.payloadBlob ?? -1]),
    result: decodeShown(execution.result, blobs[result.resultBlob ?? -1]),
    inputs,
    at: result.at,
  }
}
