/** Reads the steps and signals of an execution page by page, in the order of recording. */
import { boolean, shape, wholeNumber } from '../../options/shape.ts'
import { SIGNAL_PAGE_MAX, STEP_PAGE_MAX, isMailbox } from '../../kernel/index.ts'
import type {
  ConditionNode,
  Failure,
  Instant,
  JoinPolicy,
  JoinVerdict,
  OperationInput,
  Signal,
  SignalEffect,
  Step,
  StepKind,
  StepView,
  WaitEnd,
} from '../../kernel/index.ts'
import type { ChildSummary } from '../executions/description.ts'
import { unwrap } from '../transport/unwrap.ts'
import type { Session } from '../session.ts'
import { decodeShown } from '../checks/payload.ts'
import { holdersKey } from '../checks/signal-names.ts'
import { spendingOf } from '../define/budget.ts'
import type { Spending } from '../define/budget.ts'
import type { Sender } from '../define/signal-wait.ts'
import { onTimeoutOf } from '../define/wait-options.ts'
import type { OnTimeout } from '../define/wait-options.ts'

/** The state of a wait, current or at its end. */
export interface WaitSummary {
  readonly reason: string
  readonly until: Instant | undefined
  readonly onTimeout: OnTimeout
  /** The places at which signals count: keys of waitpoints, and `@` with the name of a signal. */
  readonly places: readonly string[]
  /** What it counts, and how many it has. */
  readonly counts: readonly { readonly name: string | undefined; readonly need: number; readonly has: number }[]
  /** The numbers of the signals that counted. */
  readonly signals: readonly number[]
  readonly reminderCount: number
  readonly isEscalated: boolean
  /** Of the question of a budget: what an approval adds to it, by dimension, unless it names other amounts. */
  readonly asks: Spending | undefined
}

/** A wait for children. */
export interface JoinSummary {
  readonly policy: JoinPolicy
  /** How many have to complete. */
  readonly need: number
  readonly total: number
  readonly completed: number
  readonly failed: number
  readonly verdict: JoinVerdict
}

export interface StepSummary {
  readonly name: string
  readonly kind: StepKind
  readonly position: number
  readonly state: Step['state']['phase']
  /** When it was first recorded, and when it last changed. */
  readonly createdAt: Instant
  readonly changedAt: Instant
  readonly attemptCount: number
  /** Bytes of its value or failure. */
  readonly size: number
  /** Whether a handler that runs now receives the recorded result. */
  readonly isFinal: boolean
  /** Undefined unless values were requested. */
  readonly value: unknown
  readonly failure: Failure | undefined
  /** When it is retried. */
  readonly retryAt: Instant | undefined
  /** How a wait or a sleep ended, and who ended it. */
  readonly how: WaitEnd | undefined
  readonly by: string | undefined
  readonly reason: string | undefined
  readonly wait: WaitSummary | undefined
  /** A child of the handler. The step of a detached child is completed once the child is started. */
  readonly child: Pick<ChildSummary, 'id' | 'outcome' | 'isDetached'> | undefined
  readonly join: JoinSummary | undefined
}

export interface SignalSummary {
  /** Its number among all signals of the execution. */
  readonly sequence: number
  readonly name: string
  /** The waitpoint that it was sent to; undefined if it was sent to the execution by its name. */
  readonly waitpoint: string | undefined
  readonly by: Sender
  readonly at: Instant
  /** Its effect on arrival. */
  readonly effect: SignalEffect
  /** The sender's own key. */
  readonly key: string
  readonly size: number
  /** Undefined unless values were requested. */
  readonly value: unknown
}

export interface ReadOptions {
  /** True reads the values too, which may be confidential. */
  readonly values?: boolean
  /** Starts here instead of at the first: the position of a step, or the sequence of a signal. */
  readonly from?: number
}

const readOptions = shape<ReadOptions>()('{ values: true }', { values: boolean, from: wholeNumber(0) })

export async function* readSteps(
  session: Session,
  idOrKey: string,
  options: ReadOptions,
): AsyncGenerator<StepSummary, void, undefined> {
  const { values = false, from } = readOptions(options)
  for await (const { blobs, ...view } of stepViews(session, idOrKey, values, from)) yield summariseStep(view, blobs)
}

async function* stepViews(
  session: Session,
  idOrKey: string,
  values: boolean,
  start = 0,
): AsyncGenerator<StepView & { readonly blobs: readonly Uint8Array[] }, void, undefined> {
  const executionId = session.resolve(idOrKey)
  let from: number | undefined = start
  while (from !== undefined) {
    const input: OperationInput<'readSteps'> = { executionId, from, values, limit: STEP_PAGE_MAX }
    const { result, blobs } = await session.run(executionId, 'readSteps', input)
    const page = unwrap(result)
    for (const view of page.steps) yield { ...view, blobs }
    from = page.next
  }
}

/** Yields the children of an execution, in the order in which they were first started. */
export async function* readChildren(session: Session, idOrKey: string): AsyncGenerator<ChildSummary, void, undefined> {
  for await (const { step } of stepViews(session, idOrKey, false)) {
    if (step.child === undefined) continue
    const { executionId: id, outcome, isDetached } = step.child
    yield { id, name: step.name, outcome, isDetached: isDetached === true, startedAt: step.createdAt }
  }
}

export async function* readSignals(
  session: Session,
  idOrKey: string,
  options: ReadOptions,
): AsyncGenerator<SignalSummary, void, undefined> {
  const { values: payloads = false, from: start = 1 } = readOptions(options)
  const executionId = session.resolve(idOrKey)
  let from: number | undefined = start
  while (from !== undefined) {
    const input: OperationInput<'readSignals'> = { executionId, from, payloads, limit: SIGNAL_PAGE_MAX }
    const { result, blobs } = await session.run(executionId, 'readSignals', input)
    const page = unwrap(result)
    for (const { signal, payloadBlob } of page.signals) yield summariseSignal(signal, blobs[payloadBlob ?? -1])
    from = page.next
  }
}

function summariseStep({ step, valueBlob, isFinal }: StepView, blobs: readonly Uint8Array[]): StepSummary {
  const { state } = step
  const closed = state.phase === 'closed' ? state : undefined
  return {
    name: step.name,
    kind: step.kind,
    position: step.position,
    state: state.phase,
    createdAt: step.createdAt,
    changedAt: state.phase === 'open' ? state.since : state.at,
    attemptCount: step.attemptCount,
    size: step.size,
    isFinal,
    value: state.phase === 'completed' ? decodeShown(state.value, blobs[valueBlob ?? -1]) : undefined,
    failure: state.phase === 'failed' || state.phase === 'retrying' ? state.failure : undefined,
    retryAt: state.phase === 'retrying' ? state.until : undefined,
    how: closed?.how,
    by: closed?.by,
    reason: closed?.reason,
    wait: summariseWait(step),
    child: summariseChild(step),
    join: summariseJoin(step),
  }
}

function summariseChild({ child }: Step): StepSummary['child'] {
  if (child === undefined) return undefined
  const { executionId: id, outcome, isDetached = false } = child
  return { id, outcome, isDetached }
}

function summariseJoin({ join }: Step): JoinSummary | undefined {
  if (join === undefined) return undefined
  const { policy, total, completed, failed, verdict } = join
  return { policy, need: policy === 'quorum' ? join.need : total, total, completed, failed, verdict }
}

function summariseWait({ kind, wait }: Step): WaitSummary | undefined {
  if (wait === undefined || kind !== 'wait') return undefined
  return {
    reason: wait.reason,
    until: wait.until,
    onTimeout: onTimeoutOf(wait.onTimeout),
    places: wait.targets,
    counts: wait.nodes.filter(isLeaf).map(({ name, need, has }) => ({ name, need, has })),
    signals: wait.satisfiers,
    reminderCount: wait.reminderCount,
    isEscalated: wait.isEscalated,
    asks: wait.asks === undefined ? undefined : spendingOf(wait.asks),
  }
}

function isLeaf(node: ConditionNode): boolean {
  return node.kind === 'leaf'
}

function summariseSignal(signal: Signal, bytes: Uint8Array | undefined): SignalSummary {
  const { sequence, name, target, source, at, effect, key, payload } = signal
  return {
    sequence,
    name,
    waitpoint: isMailbox(target) ? undefined : target,
    by: source,
    at,
    effect,
    key: source.type === 'token' ? holdersKey(key, source.identity) : key,
    size: payload?.size ?? 0,
    value: decodeShown(payload, bytes),
  }
}
