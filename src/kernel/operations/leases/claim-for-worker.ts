/** Claims executions: takes leases and returns what the handlers need. The only way to lease an execution. */
import { flowInputKey, payloadKeyOf, resultKey } from '../../model/blob-keys.ts'
import { cancelIfRequested } from '../../lifecycle/endings/pending-cancel.ts'
import { parentRefOf } from '../../lifecycle/children/child-records.ts'
import type { ParentRef } from '../../lifecycle/children/child-records.ts'
import { flowOf, putFlow, shiftCount } from '../../lifecycle/flow-counts.ts'
import { fileByNamespace, isMisfiled } from '../../lifecycle/queues.ts'
import { bucketOf, stopsMembers } from '../../rules/flow-state.ts'
import { findInputs, handedPayload, sendInputs } from '../../lifecycle/flows/upstream-results.ts'
import type { FoundInputs, HandedPayload, MemberInput } from '../../lifecycle/flows/upstream-results.ts'
import { laneIndex } from '../../model/indexes.ts'
import type { Journal, ResumeCause } from '../../model/journal-schema.ts'
import {
  CLAIM_BLOB_MAX,
  CLAIM_BLOCK_WORK,
  CLAIM_COUNT_MAX,
  CLAIM_ITEM_WORK,
  CLAIM_PAYLOAD_BYTES,
  CLAIM_RECOVERY_PAGE_COUNT,
  CLAIM_RECOVERY_SCAN_COUNT,
  FLOW_ITEM_WORK,
} from '../../limits.ts'
import type { Position } from '../../model/order.ts'
import { claimHoldOf } from '../../rules/lane-state.ts'
import {
  admissionOf,
  blockedForHand,
  budgetsOf,
  handOf,
  limitsOf,
  noteGate,
} from '../../lifecycle/limits/claim-admission.ts'
import type { BudgetKey, Hand, PermitsAtHand } from '../../lifecycle/limits/claim-admission.ts'
import type { Closing } from '../../lifecycle/limits/gates.ts'
import type { LimitKey } from '../../lifecycle/limits/gauges.ts'
import { activate, blockBehindGate } from '../../lifecycle/phases.ts'
import type {
  AttemptKind,
  BlobInfo,
  Execution,
  ExecutionId,
  Fence,
  Flow,
  FlowId,
  Gate,
  Instant,
  LimitRef,
  Tag,
  Unwinding,
} from '../../model/records.ts'
import { reachTurns } from '../../lifecycle/turns.ts'
import { findCandidates } from './claim-candidates.ts'
import type { QueueName } from './claim-candidates.ts'
import { findPlain, isPlain } from './plain-work.ts'
import type { PlainAbilities, PlainPlace, PlainWork } from './plain-work.ts'
import { runDueForClaim } from '../due/run-due.ts'
import type { Tx } from '../../tx.ts'

export interface ClaimInput {
  /** Minted by the caller; it becomes the id of every lease that this claim takes. */
  readonly requestId: string
  readonly workerId: string
  readonly workerInstanceId: string
  /** The namespace that the worker is bound to. Without it, the worker takes executions of all. */
  readonly namespace?: string | undefined
  readonly queues: readonly QueueName[]
  readonly count: number
  readonly leaseTtlMs: number
  /** Set when the reply to an earlier call with this request id was lost: its executions are returned again. */
  readonly repeated?: boolean | undefined
  readonly seed: number
  /** Permits of limits that the process holds and does not use. Work that they cover starts without another round. */
  readonly permits?: readonly PermitsAtHand[] | undefined
  /**
   * Claims only what needs no more than a handler and permits: no condition of a flow's definition, nothing to undo. The others wait
   * for another worker.
   */
  readonly isPlain?: boolean | undefined
  /** What a worker of plain work takes nevertheless. */
  readonly plainAbilities?: PlainAbilities | undefined
  /** The place that an earlier claim of plain work has returned. */
  readonly plainFrom?: PlainPlace | undefined
  /** Keys that the process knows to have no permit: work that needs one is blocked without being leased. */
  readonly exhausted?: readonly Closing[] | undefined
}

/** An execution that a worker has leased. */
export interface Claimed {
  readonly executionId: ExecutionId
  readonly key: string | undefined
  readonly namespace: string
  readonly task: string
  readonly version: number | undefined
  readonly lane: string
  readonly priority: number
  readonly tags: Tag[]
  readonly fence: Fence
  readonly attemptKind: AttemptKind
  readonly failureCount: number
  readonly leaseExpiresAt: Instant
  readonly timeoutAt: Instant | undefined
  readonly deadlineAt: Instant | undefined
  readonly createdAt: Instant
  /** How many runs with its id ended before this one. */
  readonly run: number
  readonly payload: BlobInfo | undefined
  /** The position of the payload among the blobs of the reply. */
  readonly payloadBlob: number | undefined
  readonly flowId: FlowId | undefined
  /** Its name in its flow. */
  readonly node: string | undefined
  /** The named results of its upstreams. */
  readonly inputs: MemberInput[]
  /** The upstream after which further inputs are read. */
  readonly inputsFrom: ExecutionId | undefined
  /** Set if the definition of its flow decides whether it runs. */
  readonly condition: ClaimedCondition | undefined
  /** Absent until the first step, wait or signal. */
  readonly journal: ClaimedJournal | undefined
  /** Set if the handler runs to undo its steps. */
  readonly unwinding: Unwinding | undefined
  /** The execution whose handler has started it, unless it is detached. Its holder names it when it ends the execution. */
  readonly parent: ParentRef | undefined
  /** The permits that it needs. A weight of zero counts against the cap alone. */
  readonly limits: readonly LimitRef[]
  /** The keys of budgets that it spends, also while it undoes its steps. */
  readonly budgets: readonly BudgetKey[]
  /** Whether permits at hand were used for it. Otherwise its handler starts when the worker has got permits of all limits. */
  readonly isAdmitted: boolean
  /** How long it was ready before this claim. Absent if it was claimed before, and the reply was lost. */
  readonly readyForMs: number | undefined
  /** The span that has submitted it. */
  readonly trace: string | undefined
}

/** What a worker needs to evaluate the condition of a member. */
export interface ClaimedCondition {
  /** The name of the definition of its flow. */
  readonly flow: string
  /** The input of the definition, and its position among the blobs of the reply. */
  readonly input: BlobInfo | undefined
  readonly inputBlob: number | undefined
}

/** The part of the journal that a worker needs before it reads the rest. */
export interface ClaimedJournal {
  readonly life: number
  readonly stepCount: number
  readonly round: number
  readonly era: number
  /** How many compensations its handler has registered. */
  readonly compensationCount: number
  /** The wait that resumed it, if one did. */
  readonly resumed: { readonly step: string; readonly cause: ResumeCause } | undefined
}

export interface ClaimResult {
  readonly kind: 'claimed'
  readonly executions: Claimed[]
  /** Whether more is ready in these queues, or may become so when another claimer has finished. */
  readonly more: boolean
  /** Keys whose work is blocked here, as far as this claim has met it. */
  readonly gates: readonly LimitKey[]
  /** Where the next claim of plain work continues; absent if the queues were read to their end. */
  readonly plainPlace?: PlainPlace | undefined
  /** The store's clock, to which the instants in the reply refer. */
  readonly at: Instant
}

export function claimForWorker(tx: Tx, input: ClaimInput): ClaimResult {
  const recovered = input.repeated === true ? recoverClaim(tx, input) : undefined
  if (recovered !== undefined && recovered.executions.length > 0) return recovered

  // A claim handles due records first, so that work does not wait for an engine's next pass.
  runDueForClaim(tx, input.seed)
  const count = Math.min(input.count, CLAIM_COUNT_MAX)
  const candidates = findCandidates(tx, input.queues, count, input.seed)
  const claimed: Claimed[] = []
  const hand = handOf(input.permits, input.exhausted)
  const blocked = blockedForHand(tx, hand, count)
  takeLeases(tx, input, blocked.concat(candidates.executions), claimed, hand)
  let plain: PlainWork | undefined = undefined
  if (input.isPlain === true && claimed.length === 0 && candidates.readyCount > candidates.executions.length) {
    // The first ones are left to other workers. They must not hide the plain ones behind them.
    plain = findPlain(tx, input.queues, { place: input.plainFrom, abilities: input.plainAbilities }, count)
    takeLeases(tx, input, plain.executions, claimed, hand)
  }
  const taken = new Set(claimed.map(({ executionId }) => executionId))
  const ready = candidates.executions.filter(({ id }) => taken.has(id))
  const isRest = candidates.readyCount > ready.length
  const behind = plain?.executions.filter(({ id }) => taken.has(id)) ?? []
  reachTurns(tx, ready.concat(behind), !isRest)
  const more = candidates.isHiding || isRest
  return { kind: 'claimed', executions: claimed, more, gates: hand.gates, plainPlace: plain?.place, at: tx.now }
}

function takeLeases(tx: Tx, input: ClaimInput, candidates: readonly Execution[], claimed: Claimed[], hand: Hand): void {
  let payloadBytes = 0
  let blobCount = 0
  let hasEnded = false
  for (const candidate of candidates) {
    if (tx.room() < CLAIM_ITEM_WORK || claimed.length >= Math.min(input.count, CLAIM_COUNT_MAX)) return
    // The end of another member may have changed it.
    const execution = hasEnded ? (tx.get('execution', candidate.id) ?? candidate) : candidate
    // The index reconciler finds a wrong entry; it must not block the queue.
    if (!isClaimable(tx, execution, input.queues)) continue
    if (input.namespace !== undefined && execution.namespace !== input.namespace) {
      // It leaves the queue that it does not belong to, so that it does not hide the executions behind it.
      if (isMisfiled(execution)) fileByNamespace(tx, execution)
      continue
    }
    // Past its deadline it is left to the due pass, which has not reached it yet.
    const isUnwinding = execution.unwinding !== undefined
    if (!isUnwinding && execution.deadlineAt !== undefined && execution.deadlineAt <= tx.now) continue
    if (input.isPlain === true && !isPlain(execution, input.plainAbilities)) continue
    const flow = flowOf(tx, execution)
    if (flow !== undefined && stopsMembers(flow) && !isUnwinding) {
      // A member of a cancelled flow that the cancel walk has not reached yet is cancelled here and does not start.
      if (tx.room() < FLOW_ITEM_WORK) return
      cancelIfRequested(tx, execution)
      hasEnded = true
      continue
    }
    const admission = admissionOf(tx, execution, hand)
    if (admission.kind === 'blocked' || (admission.kind === 'unadmitted' && isGated(execution))) {
      if (admission.kind === 'blocked' && !blockInPlace(tx, execution, admission.gate, hand)) return
      continue
    }
    const payload = claimPayloadOf(tx, flow, execution)
    payloadBytes = payloadBytes + payload.bytes
    blobCount = blobCount + payload.inputs.inputs.length + (payload.conditionOf === undefined ? 1 : 2)
    if (claimed.length > 0 && (payloadBytes > CLAIM_PAYLOAD_BYTES || blobCount > CLAIM_BLOB_MAX)) return
    const before = bucketOf(execution)
    const lease = {
      id: input.requestId,
      workerId: input.workerId,
      workerInstanceId: input.workerInstanceId,
      acquiredAt: tx.now,
      expiresAt: tx.now + input.leaseTtlMs,
    }
    const readyForMs = tx.now - execution.changedAt
    activate(tx, execution, lease, admission.kind === 'admitted')
    if (flow !== undefined) {
      shiftCount(tx, flow, execution, before)
      putFlow(tx, flow)
    }
    claimed.push(toClaimed(tx, execution, payload, readyForMs))
  }
}

/** Whether an execution is ready, or a gate blocks it in one of the queues that the claim asks for and that are not held. */
function isClaimable(tx: Tx, execution: Execution, queues: readonly QueueName[]): boolean {
  if (execution.state.phase === 'eligible') return true
  if (!isGated(execution) || claimHoldOf(tx.get('lane', execution.lane), execution.task) !== undefined) return false
  for (const queue of queues) if (queue.lane === execution.lane && queue.class === execution.class) return true
  return false
}

function isGated({ state }: Execution): boolean {
  return state.phase === 'blocked' && state.gate !== undefined
}

/** Returns false if there is no room for it. Only a write of the gate keeps it from being removed at the same time. */
function blockInPlace(tx: Tx, execution: Execution, gate: Gate, hand: Hand): boolean {
  if (isGated(execution)) return true
  if (tx.room() < CLAIM_BLOCK_WORK) return false
  noteGate(hand, gate)
  blockBehindGate(tx, execution, gate.id)
  tx.put(gate)
  return true
}

/**
 * Returns again the executions of a claim whose reply was lost. Writes nothing. Bounded: leases of the others expire.
 */
export function recoverClaim(tx: Tx, input: ClaimInput): ClaimResult {
  const claimed: Claimed[] = []
  const lanes: string[] = []
  for (const queue of input.queues) if (!lanes.includes(queue.lane)) lanes.push(queue.lane)
  let scanned = 0
  for (const lane of lanes) {
    let from: Position | undefined = undefined
    while (scanned < CLAIM_RECOVERY_SCAN_COUNT) {
      const page: Execution[] = tx.scan(
        { index: laneIndex(lane, 'active'), from, reverse: true, limit: CLAIM_RECOVERY_PAGE_COUNT },
        'execution',
      )
      for (const execution of page) {
        const state = execution.state
        if (state.phase !== 'active' || state.lease.id !== input.requestId || state.lease.expiresAt <= tx.now) continue
        if (state.lease.workerInstanceId === input.workerInstanceId) {
          claimed.push(toClaimed(tx, execution, claimPayloadOf(tx, flowOf(tx, execution), execution)))
        }
      }
      scanned = scanned + page.length
      const last = page[page.length - 1]
      if (last === undefined || page.length < CLAIM_RECOVERY_PAGE_COUNT) break
      from = { score: last.createdAt, id: last.id }
    }
  }
  return { kind: 'claimed', executions: claimed, more: true, gates: [], at: tx.now }
}

/** The payload and inputs that a claim sends with an execution. */
interface ClaimPayload {
  readonly handed: HandedPayload | undefined
  readonly inputs: FoundInputs
  /** The flow of a member that has a condition and has recorded no step, so that the condition is still to be evaluated. */
  readonly conditionOf: Flow | undefined
  readonly bytes: number
}

function claimPayloadOf(tx: Tx, flow: Flow | undefined, execution: Execution): ClaimPayload {
  const handed = handedPayload(tx, execution)
  const inputs = findInputs(tx, flow, execution)
  const payload = handed === undefined ? execution.payload : handed.info
  const isConditional = execution.member?.hasCondition === true && !hasBegun(execution)
  const conditionOf = isConditional ? flow : undefined
  const bytes = (payload?.size ?? 0) + inputs.bytes + (conditionOf?.input?.size ?? 0)
  return { handed, inputs, conditionOf, bytes }
}

/** Whether the handler has recorded something. Its condition was met then, and a skip would lose the steps. */
function hasBegun({ journal, unwinding }: Execution): boolean {
  return unwinding !== undefined || (journal !== undefined && journal.stepCount > 0)
}

function claimedCondition(tx: Tx, flow: Flow | undefined): ClaimedCondition | undefined {
  if (flow === undefined) return undefined
  const { name, input } = flow
  return { flow: name, input, inputBlob: input === undefined ? undefined : tx.send(flowInputKey(flow), input.size) }
}

function toClaimed(tx: Tx, execution: Execution, payload: ClaimPayload, readyForMs?: number): Claimed {
  const state = execution.state
  const attempt = execution.attempt
  if (state.phase !== 'active' || attempt === undefined)
    return tx.fault('a claimed execution is not active', execution.id)
  const handed = payload.handed
  const info = handed === undefined ? execution.payload : handed.info
  const blobKey = handed === undefined ? payloadKeyOf(execution) : resultKey(handed.upstreamId)
  const inputs = sendInputs(tx, payload.inputs)
  return {
    executionId: execution.id,
    key: execution.key,
    namespace: execution.namespace,
    task: execution.task,
    version: execution.version,
    lane: execution.lane,
    priority: execution.priority,
    tags: execution.tags,
    fence: { leaseId: state.lease.id, epoch: execution.epoch, attempt: attempt.number },
    attemptKind: attempt.kind,
    failureCount: execution.failureCount,
    leaseExpiresAt: state.lease.expiresAt,
    timeoutAt: state.timeoutAt,
    deadlineAt: execution.unwinding === undefined ? execution.deadlineAt : undefined,
    createdAt: execution.createdAt,
    run: execution.run ?? 0,
    payload: info,
    payloadBlob: info === undefined ? undefined : tx.send(blobKey, info.size),
    flowId: execution.member?.flowId,
    node: execution.member?.name,
    inputs: inputs.inputs,
    inputsFrom: inputs.from,
    condition: claimedCondition(tx, payload.conditionOf),
    journal: claimedJournal(execution.journal),
    unwinding: execution.unwinding,
    parent: parentRefOf(execution),
    limits: limitsOf(tx, execution),
    budgets: budgetsOf(execution),
    isAdmitted: state.unadmitted === undefined,
    readyForMs,
    trace: execution.trace,
  }
}

function claimedJournal(journal: Journal | undefined): ClaimedJournal | undefined {
  if (journal === undefined) return undefined
  const { life, stepCount, round, era, compensationCount = 0, resumed } = journal
  return { life, stepCount, round, era, compensationCount, resumed }
}
