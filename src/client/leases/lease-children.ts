/**
 * Children of executions that a worker runs without a connection to the store. A child is a step of its parent: a handler that runs
 * again starts none twice. A wait that is not decided suspends the parent and ends its lease.
 */
import { CHILD_JOIN_MAX, CHILD_MAX, CHILD_START_MAX, budgetsOf } from '../../kernel/index.ts'
import type {
  ExecutionId,
  Failure,
  JoinPolicy,
  JoinVerdict,
  Losers,
  OperationInput,
  Outcome,
} from '../../kernel/index.ts'
import { invalidInput } from '../checks/names.ts'
import { decodeValue } from '../checks/payload.ts'
import { checkStepName } from '../checks/step-names.ts'
import { inheritedRefs } from '../define/budget.ts'
import type { AnyTask } from '../define/task.ts'
import { prepareSubmit, resolveDelay } from '../executions/submit.ts'
import type { SubmitOptions } from '../executions/submit.ts'
import { declaredLimitsOf } from '../limits/declared-limits.ts'
import type { Session } from '../session.ts'
import { childIdOf } from '../transport/ids.ts'
import { unwrap } from '../transport/unwrap.ts'
import { endingLease } from './ending-lease.ts'
import { fenced } from './fenced.ts'

export interface LeaseChildInput {
  /** The name of its step. Another child of its parent has another name. */
  readonly name: string
  readonly task: AnyTask
  readonly input: unknown
  readonly options: Omit<SubmitOptions, 'id' | 'ifExists' | 'tx'>
  /** True for a child that its parent neither waits for nor stops. */
  readonly isDetached?: boolean | undefined
}

export interface LeaseChild {
  readonly name: string
  readonly id: ExecutionId
  /** Whether this call has started it. */
  readonly isNew: boolean
}

export interface LeaseJoin {
  readonly name: string
  /** The names of the children, each of which was started before. */
  readonly children: readonly string[]
  readonly policy: JoinPolicy
  /** The number of a quorum. */
  readonly need?: number | undefined
  /** What happens to the children that have not ended when the wait is decided; `let_run` unless given. */
  readonly losers?: Losers | undefined
}

export interface EndedChild {
  readonly name: string
  readonly id: ExecutionId
  /** Undefined while it has not ended. */
  readonly outcome: Outcome | undefined
  readonly result: unknown
  readonly failure: Failure | undefined
}

type Stopped = { readonly kind: 'suspended' | 'already_suspended' | 'cancelled' | 'already_cancelled' }

export type LeaseStarted = { readonly kind: 'started'; readonly children: readonly LeaseChild[] } | Stopped

export type LeaseJoined =
  | {
      readonly kind: 'decided'
      readonly verdict: JoinVerdict
      /** Those that have completed a quorum, in the order of their ends. */
      readonly winners: readonly string[]
      readonly children: readonly EndedChild[]
    }
  | Stopped

export class LeaseChildren {
  readonly #session: () => Session

  constructor(session: () => Session) {
    this.#session = session
  }

  /** Starts children that do not exist yet. */
  async start(id: string, lease: string, children: readonly LeaseChildInput[]): Promise<LeaseStarted> {
    const session = this.#session()
    if (children.length > CHILD_START_MAX) {
      throw invalidInput(
        'children',
        `children has ${children.length} entries: start at most ${CHILD_START_MAX} at once.`,
      )
    }
    const holder = fenced(session, id, lease)
    const { executionId } = holder
    const { execution } = unwrap((await session.run(executionId, 'describeExecution', { executionId })).result)
    const { createdAt, run = 0, journal, namespace } = execution
    const life = [createdAt, run, journal?.era ?? 0, journal?.round ?? 0].join('.')
    const setting = {
      namespace,
      indexedTags: session.settings.indexedTags,
      limits: declaredLimitsOf(session.batcher, session.runtime),
      inherited: inheritedRefs(budgetsOf(execution)),
      codec: session.batcher.codec,
    }
    const blobs: Uint8Array[] = []
    const inputs: OperationInput<'startChildren'>['children'][number][] = []
    for (const { name: given, task, input, options, isDetached } of children) {
      const name = checkStepName(given)
      const ids = { executionId: childIdOf(executionId, life, name), requestId: undefined }
      const item = { task, input, options: resolveDelay(options, session.runtime.now()) }
      const prepared = await prepareSubmit(item, ids, setting)
      const { payload } = prepared.input
      const create =
        payload === undefined ? prepared.input : { ...prepared.input, payload: { ...payload, blob: blobs.length } }
      blobs.push(...prepared.blobs)
      inputs.push({ name, create, isDetached: isDetached === true ? true : undefined })
    }
    const start = { ...holder, children: inputs, unlessUnwinding: true }
    const answer = await endingLease(
      session,
      id,
      lease,
      async () => unwrap((await session.run(executionId, 'startChildren', start, blobs)).result),
      ({ kind }) => kind === 'started',
    )
    if (answer.kind !== 'started') return { kind: answer.kind }
    const started = answer.children.flatMap(({ name, executionId: child, isNew }) =>
      child === undefined ? [] : [{ name, id: child, isNew }],
    )
    return { kind: 'started', children: started }
  }

  /** Waits for children. Each wait is recorded under its name, so that later runs of the handler get the same verdict. */
  async join(id: string, lease: string, join: LeaseJoin): Promise<LeaseJoined> {
    const session = this.#session()
    const holder = fenced(session, id, lease)
    const { executionId } = holder
    const { policy, need = 0, losers = 'let_run' } = join
    const children = join.children.map((name, i) => checkStepName(name, `children[${i}]`))
    checkJoin(policy, need, children)
    const total = children.length
    const rule = { ...holder, name: checkStepName(join.name), policy, need, losers, total, unlessUnwinding: true }
    for (let offset = 0; ; offset += CHILD_JOIN_MAX) {
      const page = children.slice(offset, offset + CHILD_JOIN_MAX)
      const isLast = offset + CHILD_JOIN_MAX >= children.length
      const input = { ...rule, children: page, offset, isLast }
      const answer = await endingLease(
        session,
        id,
        lease,
        async () => unwrap((await session.run(executionId, 'joinChildren', input)).result),
        ({ kind }) => kind === 'joining' || kind === 'decided',
      )
      if (answer.kind === 'joining') continue
      if (answer.kind !== 'decided') return { kind: answer.kind }
      const { verdict, winners } = answer.join
      const won = winners.flatMap((index) => children[index] ?? [])
      return { kind: 'decided', verdict, winners: won, children: await endsOf(session, executionId, children) }
    }
  }
}

function checkJoin(policy: JoinPolicy, need: number, children: readonly string[]): void {
  if (children.length === 0 || children.length > CHILD_MAX) {
    throw invalidInput('children', `children has ${children.length} entries, but must have 1 to ${CHILD_MAX}.`)
  }
  if (new Set(children).size < children.length) throw invalidInput('children', 'children names one of them twice.')
  const isInRange = policy === 'quorum' ? need >= 1 && need <= children.length : need === 0
  if (isInRange) return
  throw invalidInput(
    'need',
    policy === 'quorum'
      ? `need is ${need}, but must be 1 to ${children.length}, the number of children.`
      : `need belongs to the policy 'quorum': leave it out.`,
  )
}

/** Reads the steps of children, page by page until all are found. Returns them in the order of the names. */
async function endsOf(session: Session, executionId: ExecutionId, names: readonly string[]): Promise<EndedChild[]> {
  const wanted = new Set(names)
  const found = new Map<string, EndedChild>()
  let from: number | undefined = 0
  while (from !== undefined && found.size < wanted.size) {
    const input: { executionId: ExecutionId; from: number; values: true } = { executionId, from, values: true }
    const { result, blobs } = await session.run(executionId, 'readSteps', input)
    const page = unwrap(result)
    for (const { step, valueBlob } of page.steps) {
      const { kind, name, child, state } = step
      if (kind !== 'child' || child === undefined || !wanted.has(name)) continue
      const isCompleted = state.phase === 'completed'
      found.set(name, {
        name,
        id: child.executionId,
        outcome: child.outcome,
        result: isCompleted ? decodeValue(state.value, blobs[valueBlob ?? -1]) : undefined,
        failure: state.phase === 'failed' ? state.failure : undefined,
      })
    }
    from = page.next
  }
  return names.flatMap((name) => found.get(name) ?? [])
}
