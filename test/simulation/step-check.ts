/**
 * What must hold after every batch of calls that could have changed something: the invariants of the partition, and rules over
 * what the batch was answered and what it changed, which may be nothing. Each problem is a sentence; its form without ids and numbers names the rule.
 */
import { DUE_INDEX } from '../../src/kernel/index.ts'
import type { ClaimInput, Execution, Fence, OperationInput } from '../../src/kernel/index.ts'
import type { Answer, Call, PartitionDump, StoredEvent } from '../../src/stores/store.ts'
import { executionsOf } from '../conformance/execution-invariants.ts'
import { problemsOf } from '../conformance/invariants.ts'
import { fencedInput } from '../properties/holders.ts'
import { claimedBy } from '../properties/script.ts'
import { loserProblems } from '../properties/flow-model.ts'
import { repairsOf, stepProblems } from '../properties/step-rules.ts'
import { boundProblems } from './bound-check.ts'
import { flowsOf } from './dumped-flows.ts'
import { journalEffectProblems } from './journal-check.ts'
import type { Effect } from './network.ts'
import { TIMED } from './registry-check.ts'
import { refusalProblems } from './refusal-check.ts'

/** What cannot hold once the store's clock has gone back: times are written by that clock. */
const TIME_RULES = [
  'happened before the one ahead of it',
  'began before the one before had ended',
  'ended before it began',
  'nothing began before it was created',
  'a lease names its holder and its end',
  TIMED,
]

export interface StepCheckOptions {
  readonly hasClockGoneBack: boolean
}

export function effectProblems(effect: Effect, { hasClockGoneBack }: StepCheckOptions): string[] {
  const problems = [
    ...stateProblems(effect),
    ...answerProblems(effect),
    ...dueProblems(effect),
    ...boundProblems(effect),
  ]
  return hasClockGoneBack ? problems.filter(isTimeless) : problems
}

/** Whether a problem is one even if the store's clock has gone back. */
export function isTimeless(problem: string): boolean {
  return !TIME_RULES.some((rule) => problem.includes(rule))
}

/** What is as it was before was judged then; only answers can be wrong about it. */
function stateProblems(effect: Effect): string[] {
  const { before, after } = effect
  if (after === before) return singleCallProblems(effect)
  return [
    ...problemsOf(after),
    ...unneededProblems(after),
    ...singleCallProblems(effect),
    ...changeProblems(effect),
    ...timeoutProblems(effect),
    ...journalEffectProblems(effect),
  ]
}

/** Who lost a race does not run on, as long as its flow lives. */
function unneededProblems(dump: PartitionDump): string[] {
  const dead = new Set(
    flowsOf(dump)
      .filter(({ state }) => state.phase === 'cancelled')
      .map(({ id }) => id),
  )
  const isAlive = (record: PartitionDump['records'][number]) => {
    return record.type !== 'execution' || record.member === undefined || !dead.has(record.member.flowId)
  }
  return dead.size === flowsOf(dump).length ? [] : loserProblems({ ...dump, records: dump.records.filter(isAlive) })
}

/** The rules for one operation, where a batch has one. */
function singleCallProblems({ calls, answers, before, after, now }: Effect): string[] {
  const [call] = calls
  const [answer] = answers
  if (calls.length !== 1 || call === undefined || answer?.kind !== 'answered') return []
  return stepProblems({ call, answer, before, after, now })
}

type Answered = Extract<Answer, { kind: 'answered' }>

/** What was answered holds of the partition, and was allowed by what stood there before. */
function answerProblems({ calls, answers, before, after, now }: Effect): string[] {
  const problems: string[] = []
  const was = byId(before)
  const is = byId(after)
  /** What earlier calls of the batch have handed out. */
  const handedOut = new Map<string, Fence>()
  calls.forEach((call, i) => {
    const answer = answers[i]
    if (answer === undefined) problems.push(`${call.operation} was not answered`)
    if (answer?.kind === 'fault') problems.push(`${call.operation} met an impossible state: ${answer.reason}`)
    if (answer?.kind !== 'answered') return
    problems.push(
      ...fenceProblems(call, answer, was, handedOut, now),
      ...claimProblems(call, answer, is, handedOut, now),
    )
    if (i === calls.length - 1) problems.push(...renewalProblems(call, answer, is))
    problems.push(...repairsOf(answer))
  })
  return problems
}

const FENCED_DEEDS = [
  'renewed',
  'completed',
  'failed',
  'retry_scheduled',
  'delayed',
  'released',
  'updated',
  'cancelled',
  'parked',
  'skipped',
  'not_blocked',
  'added',
  'recorded',
  'already_recorded',
  'suspended',
  'answered',
  'opened',
  'already_opened',
  'started',
  'joining',
  'decided',
]

/** A call that succeeds with a fence held exactly that lease, and the lease was valid. */
function fenceProblems(
  call: Call,
  { result }: Answered,
  was: ReadonlyMap<string, Execution>,
  handedOut: ReadonlyMap<string, Fence>,
  now: number,
): string[] {
  const held = fencedInput(call)
  if (held === undefined || !FENCED_DEEDS.includes(result.kind)) return []
  const { executionId, fence } = held
  const given = handedOut.get(executionId)
  const execution = was.get(executionId)
  const isHeld = given === undefined ? execution !== undefined && holds(execution, fence, now) : isSame(given, fence)
  return isHeld ? [] : [`${call.operation} of ${executionId} was let through with a fence that did not hold it`]
}

function holds({ state, epoch, attempt }: Execution, fence: Fence, now: number): boolean {
  if (state.phase !== 'active' || state.lease.expiresAt <= now) return false
  return isSame({ leaseId: state.lease.id, epoch, attempt: attempt?.number ?? 0 }, fence)
}

function isSame(a: Fence, b: Fence): boolean {
  return a.leaseId === b.leaseId && a.epoch === b.epoch && a.attempt === b.attempt
}

/** A claim hands out leases of its own, each once; repeated, all that it took and that is still held. */
function claimProblems(
  call: Call,
  { result }: Answered,
  is: ReadonlyMap<string, Execution>,
  handedOut: Map<string, Fence>,
  now: number,
): string[] {
  const claim = claimOf(call)
  const claimed = claimedBy(result)?.executions
  if (claim === undefined || claimed === undefined) return []
  const problems: string[] = []
  for (const { executionId, fence } of claimed) {
    const given = handedOut.get(executionId)
    if (fence.leaseId !== claim.requestId) problems.push(`${executionId} was handed out under a lease of another claim`)
    const execution = is.get(executionId)
    if (execution !== undefined && !claim.queues.some((queue) => isIn(execution, queue))) {
      problems.push(`${executionId} was handed out to a worker that does not serve it`)
    }
    if (given !== undefined && isSame(given, fence)) problems.push(`${executionId} was handed out twice in one batch`)
    handedOut.set(executionId, fence)
  }
  if (claim.repeated !== true) return problems
  const ids = claimed.map(({ executionId }) => executionId)
  for (const { id, state, lane } of is.values()) {
    if (state.phase !== 'active' || state.lease.id !== claim.requestId || state.lease.expiresAt <= now) continue
    const isAskedFor = claim.queues.some((queue) => queue.lane === lane)
    if (isAskedFor && !ids.includes(id)) problems.push(`a repeated claim does not hand out ${id}, which it holds`)
  }
  return problems
}

function isIn({ lane, class: name }: Execution, queue: ClaimInput['queues'][number]): boolean {
  return queue.lane === lane && queue.class === name
}

function claimOf({ operation, input }: Call): ClaimInput | undefined {
  if (operation === 'completeExecution') return (input as OperationInput<'completeExecution'>).next
  return operation === 'claimForWorker' ? (input as ClaimInput) : undefined
}

/** A worker can rely on the expiry that it was given. */
function renewalProblems({ input }: Call, { result }: Answered, is: ReadonlyMap<string, Execution>): string[] {
  if (result.kind !== 'renewed' || !('executionId' in input)) return []
  const state = is.get(input.executionId)?.state
  if (state?.phase === 'active' && state.lease.expiresAt === result.expiresAt) return []
  return [`the renewal of ${input.executionId} was answered and not made`]
}

function byId(dump: PartitionDump): Map<string, Execution> {
  return new Map(executionsOf(dump).map((execution) => [execution.id, execution]))
}

const REBORN = ['execution_replayed', 'execution_replaced', 'execution_created', 'follow_up_started']

/** What a batch may do to executions that existed before it, judged by its events. */
function changeProblems({ before, after, now }: Effect): string[] {
  const problems: string[] = []
  const told = Map.groupBy(after.events.slice(before.events.length), (event) => event.executionId)
  const is = byId(after)
  for (const execution of executionsOf(before)) {
    const events = told.get(execution.id) ?? []
    problems.push(...lifeProblems(execution, is.get(execution.id), events, now))
  }
  return problems
}

function lifeProblems(
  before: Execution,
  after: Execution | undefined,
  events: readonly StoredEvent[],
  now: number,
): string[] {
  const { id, state, retentionMs, dedupeMs = 0, member } = before
  const types = events.map(({ type }) => type as string)
  const isReborn = types.some((type) => REBORN.includes(type))
  if (after === undefined) {
    // A member is kept as long as its flow.
    const isDue = state.phase === 'ended' && (member !== undefined || state.at + Math.max(retentionMs, dedupeMs) <= now)
    return isDue || types.includes('execution_ended') ? [] : [`${id} was removed before its time`]
  }
  // The members of the next run of a flow have the ids of those of the run before, which are removed first.
  const removedAt = member === undefined ? -1 : types.lastIndexOf('execution_purged')
  if (removedAt !== -1) return successorProblems(before, after, types, removedAt)
  const problems: string[] = []
  const startCount = types.filter((type) => type === 'attempt_started').length
  if (after.epoch !== before.epoch + startCount) {
    problems.push(`the epoch of ${id} went from ${before.epoch} to ${after.epoch} with ${startCount} claims`)
  }
  if (state.phase === 'active') problems.push(...leaseProblems(before, after, types, now))
  if (state.phase === 'ended' && !isReborn && types.includes('execution_ended')) problems.push(`${id} ended twice`)
  problems.push(...refusalProblems(before, after, events))
  return problems
}

function successorProblems(
  { id, state }: Execution,
  after: Execution,
  types: readonly string[],
  removedAt: number,
): string[] {
  const hadEnded = state.phase === 'ended' || types.slice(0, removedAt).includes('execution_ended')
  const problems = hadEnded ? [] : [`${id} was removed before its end`]
  const startCount = types.slice(removedAt).filter((type) => type === 'attempt_started').length
  if (after.epoch !== startCount) problems.push(`the epoch of ${id} is ${after.epoch} after ${startCount} claims`)
  return problems
}

function leaseProblems(before: Execution, after: Execution, types: readonly string[], now: number): string[] {
  if (before.state.phase !== 'active') return []
  const { lease, cancel } = before.state
  const still = after.state.phase === 'active' && after.epoch === before.epoch ? after.state : undefined
  const problems: string[] = []
  if (still !== undefined && lease.expiresAt <= now && still.lease.expiresAt > lease.expiresAt) {
    problems.push(`the lease of ${before.id} was renewed after it had expired`)
  }
  if (still !== undefined && cancel !== undefined && still.cancel === undefined) {
    problems.push(`the cancel request of ${before.id} was lost`)
  }
  if (lease.expiresAt > now && types[0] === 'lease_expired') {
    problems.push(`the lease of ${before.id} was taken for expired while it was alive`)
  }
  return problems
}

/** A due pass that is complete has left nothing that was due. */
function dueProblems({ calls, answers, after, now }: Effect): string[] {
  const last = answers.at(-1)
  const call = calls.at(-1)
  if (call?.operation !== 'runDue' || last?.kind !== 'answered' || last.result.kind !== 'due') return []
  const { from, skip = [] } = call.input as OperationInput<'runDue'>
  if (last.result.next !== undefined || skip.length > 0) return []
  // A call that continues a pass answers for what lies ahead of it.
  const isAhead = (score: number) => from === undefined || score > from.score
  return after.entries
    .filter(({ index, score }) => index === DUE_INDEX && score <= now && isAhead(score))
    .map(({ id }) => `the due pass left ${id} behind, which was due`)
}

/** An attempt that may run only so long has a moment at which its time is over. */
function timeoutProblems({ after }: Effect): string[] {
  return executionsOf(after)
    .filter(({ state, attemptTimeoutMs, unwinding }) => {
      // The time of a handler that undoes its steps has a limit of its own.
      if (state.phase !== 'active' || attemptTimeoutMs === undefined || unwinding !== undefined) return false
      return state.timeoutAt === undefined || state.timeoutAt > state.runningSince + attemptTimeoutMs
    })
    .map(({ id }) => `the attempt of ${id} would run longer than it may`)
}

/** The rule that a problem reports as broken, without its subjects. */
export function ruleOf(problem: string): string {
  const [sentence = ''] = problem.split('\n')
  return sentence
    .replaceAll(/f?\d+-[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>')
    .replaceAll(/[a-z_]+:\d+/g, '<name>')
    .replaceAll(/(client|worker|engine)\d+\.\d+/g, '<process>')
    .replaceAll(/-?\d+/g, '#')
}
