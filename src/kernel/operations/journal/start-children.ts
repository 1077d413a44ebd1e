/**
 * Starts children: executions of which the handler gets the result. Each is a step in the journal of its parent, and the
 * step names the child, so a handler that runs again starts none twice. May begin a join for them, and suspend the
 * execution in it with the last page.
 */
import { releaseChild } from '../../lifecycle/children/child-records.ts'
import { giveTimeToUndo } from '../../lifecycle/cancel-request.ts'
import { cancelIfRequested } from '../../lifecycle/endings/pending-cancel.ts'
import { leaseEnded, refuseToBegin, refuseUnlessHeld } from '../../lifecycle/fence.ts'
import type { LeaseRefusal, UnwindingInput, UnwindingRefusal } from '../../lifecycle/fence.ts'
import { findStep } from '../../lifecycle/find-step.ts'
import { delayOf, newExecution, storeExecution } from '../../lifecycle/new-execution.ts'
import type { CreateInput } from '../../lifecycle/new-execution.ts'
import { refuseQueues, enterQueue } from '../../lifecycle/queues.ts'
import { CHILD_DEPTH_MAX, CHILD_MAX, CHILD_START_MAX, TAG_COUNT_MAX } from '../../limits.ts'
import type { Join, Step, StepState } from '../../model/journal-schema.ts'
import type { Execution, ExecutionId, Fence, Outcome, Tag } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import { hasStepsToUndo } from '../../rules/execution-state.ts'
import type { JoinInput } from '../../rules/join.ts'
import { journalOf, scopeOf, stepIdIn, stepKey } from '../../rules/journal-ids.ts'
import { mergeTags } from '../../rules/tags.ts'
import type { Tx } from '../../tx.ts'
import { beginJoin, countPage, decideOrSuspend, isUsable, refuseJoin } from './join-children.ts'
import { isFinal, putStep, refuseStep } from './record-step.ts'
import type { StepLimitRefusal } from './record-step.ts'

export interface ChildInput {
  /** The handler's name for the child; a repeated name is followed by `#2` and so on. */
  readonly name: string
  /** Its id is used only if the child is new. Its namespace is that of the parent. */
  readonly create: CreateInput
  /** Whether the parent neither waits for it nor cancels it. */
  readonly isDetached?: boolean | undefined
  /** The names of tags that it gets from its parent, unless it has them itself. */
  readonly inheritTags?: readonly string[] | undefined
}

export interface StartChildrenInput extends UnwindingInput {
  readonly executionId: ExecutionId
  readonly fence: Fence
  readonly children: readonly ChildInput[]
  /** The join that waits for all of them. `offset` is the place of the first one in the handler's list. */
  readonly join?: (JoinInput & { readonly offset: number }) | undefined
  /** Whether this is the last page of the join: it is decided, or the execution is suspended. */
  readonly park?: boolean | undefined
}

/** A child as its parent's journal has it. */
export interface StartedChild {
  readonly name: string
  /** Absent if the join was decided without the child, so that it was not started. */
  readonly executionId: ExecutionId | undefined
  readonly position: number | undefined
  readonly state: StepState | undefined
  readonly outcome: Outcome | undefined
  /** Whether this call has started it. */
  readonly isNew: boolean
}

export type StartChildrenResult =
  /** The lease is kept. `join` is the join so far: it has a verdict if this was its last page, or it was decided before. */
  | { readonly kind: 'started'; readonly children: StartedChild[]; readonly join: Join | undefined }
  | { readonly kind: 'suspended' | 'already_suspended' }
  | { readonly kind: 'cancelled' | 'already_cancelled' }
  | LeaseRefusal
  | UnwindingRefusal
  | StepLimitRefusal
  | Refused<
      | 'execution_not_found'
      | 'execution_exists'
      | 'child_limit_exceeded'
      | 'child_depth_exceeded'
      | 'too_many_needs'
      | 'invalid_input'
    >

export function startChildren(tx: Tx, input: StartChildrenInput): StartChildrenResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  if (leaseEnded(execution, input.fence, 'suspended')) return { kind: 'already_suspended' }
  if (leaseEnded(execution, input.fence, 'cancelled')) return { kind: 'already_cancelled' }
  const refusal = refuseUnlessHeld(tx, execution, input.fence) ?? refusePage(execution, input)
  if (refusal !== undefined) return refusal
  const join = input.join
  const known = join === undefined ? undefined : findStep(tx, execution, 'join', join.name)
  const decided = known !== undefined && isFinal(known, execution.journal) ? known.join : undefined
  const tooLate = refuseToBegin(execution, input)
  const wanted = wantedChildren(tx, execution, input.children, tooLate !== undefined)
  if (decided !== undefined) return { kind: 'started', children: wanted.map(recordedChild), join: decided }
  const fresh = wanted.filter((child) => !child.isUsable)
  if (tooLate !== undefined && (fresh.length > 0 || join !== undefined)) return tooLate
  const limit = refuseFresh(tx, execution, fresh) ?? (join === undefined ? undefined : refuseStep(execution, known, 0))
  if (limit !== undefined) return limit

  if (input.park === true && cancelIfRequested(tx, execution) !== undefined) return { kind: 'cancelled' }
  const joinStep = join === undefined ? undefined : beginJoin(tx, execution, known, join)
  const steps = wanted.map((child) => stepOf(tx, execution, child, join?.name))
  if (fresh.length > 0 && !hasStepsToUndo(execution)) {
    // A child may have had effects, so a cancel gives the handler the time to undo them.
    journalOf(execution).hasCompletedSteps = true
    giveTimeToUndo(tx, execution)
  }
  if (joinStep !== undefined) countPage(tx, execution, joinStep, { children: steps, offset: join?.offset ?? 0 })
  if (joinStep !== undefined && input.park === true) {
    if (decideOrSuspend(tx, execution, joinStep) === undefined) return { kind: 'suspended' }
  } else {
    if (joinStep !== undefined) tx.put(joinStep)
    tx.put(execution)
  }
  const children = wanted.map((child, i) => startedChild(child, steps[i]))
  return { kind: 'started', children, join: joinStep?.join }
}

function refusePage(
  execution: Execution,
  input: StartChildrenInput,
): Refused<'invalid_input' | 'child_depth_exceeded'> | undefined {
  const detail = { executionId: execution.id }
  const children = input.children
  if (children.length > CHILD_START_MAX) return refused('invalid_input', { ...detail, limit: CHILD_START_MAX })
  const names = new Set(children.map(({ name }) => name))
  const ids = new Set(children.map(({ create }) => create.executionId))
  if (names.size < children.length || ids.size < children.length) return refused('invalid_input', detail)
  for (const child of children) {
    if (tagsOf(execution, child).length > TAG_COUNT_MAX) {
      return refused('invalid_input', { ...detail, limit: TAG_COUNT_MAX, step: child.name })
    }
    if (depthOf(execution, child) > CHILD_DEPTH_MAX) {
      return refused('child_depth_exceeded', { ...detail, limit: CHILD_DEPTH_MAX, step: child.name })
    }
  }
  if (input.join === undefined) return input.park === true ? refused('invalid_input', detail) : undefined
  return refuseJoin(execution, { ...input.join, children })
}

/** A child that a handler asks for, with its step if there is one. */
interface WantedChild {
  readonly input: ChildInput
  readonly existing: Step | undefined
  /** Whether the step has a child that runs, or whose result counts. */
  readonly isUsable: boolean
}

/** A run that starts none any more keeps those that are being cancelled, too. */
function wantedChildren(
  tx: Tx,
  execution: Execution,
  children: readonly ChildInput[],
  startsNone: boolean,
): WantedChild[] {
  const scope = scopeOf(execution.id, execution.journal)
  const stepId = ({ name }: ChildInput): string => stepIdIn(scope, stepKey('child', name))
  const byId = new Map(tx.getMany('step', children.map(stepId)).map((step) => [step.id, step]))
  return children.map((input) => {
    const existing = byId.get(stepId(input))
    const isFound = existing !== undefined && isUsable(existing, execution)
    const isKept = isFound && (startsNone || !isStopping(tx, execution, existing))
    return { input, existing, isUsable: isKept }
  })
}

/** Whether the child of an earlier round is being cancelled, so that a later round does not take it over. */
function isStopping(tx: Tx, { journal }: Execution, { state, child: link }: Step): boolean {
  if (state.phase !== 'open' || link === undefined || link.round === journal?.round) return false
  const child = tx.get('execution', link.executionId)
  if (child === undefined) return tx.fault('a child does not exist while its step is open', link.executionId)
  return child.unwinding !== undefined || (child.state.phase === 'active' && child.state.cancel !== undefined)
}

/** Refuses children beyond the limits, and ids that belong to other executions. */
function refuseFresh(
  tx: Tx,
  execution: Execution,
  fresh: readonly WantedChild[],
): Refused<'child_limit_exceeded' | 'execution_exists' | 'too_many_needs'> | undefined {
  const journal = execution.journal
  let added = 0
  for (const { existing } of fresh) if (existing === undefined) added = added + 1
  // Cut children count until they are removed, and must not prevent a replay from starting them again.
  const share = journal !== undefined && journal.cuts.length > 0 ? 2 : 1
  if ((journal?.childCount ?? 0) + added > CHILD_MAX * share) {
    return refused('child_limit_exceeded', { executionId: execution.id, limit: CHILD_MAX })
  }
  const [taken] = tx.getMany(
    'execution',
    fresh.map(({ input }) => input.create.executionId),
  )
  if (taken !== undefined) return refused('execution_exists', { executionId: taken.id })
  return refuseQueues(
    tx,
    fresh.map(({ input }) => input.create),
  )
}

/** Returns the step of a child, and starts the child if it is new. */
function stepOf(tx: Tx, execution: Execution, wanted: WantedChild, join: string | undefined): Step {
  const { input, existing } = wanted
  const journal = journalOf(execution)
  if (existing?.child !== undefined && wanted.isUsable) {
    // The handler of a later round takes over a child that runs: its failure is a result of that round.
    if (existing.state.phase === 'open' && existing.child.round !== journal.round) {
      existing.child.round = journal.round
      tx.put(existing)
    }
    return existing
  }
  if (existing === undefined) journal.childCount = (journal.childCount ?? 0) + 1
  else releaseChild(tx, existing)
  const child = createChild(tx, execution, input, join)
  const isDetached = input.isDetached === true
  return putStep(tx, execution, existing, {
    kind: 'child',
    name: input.name,
    attemptCount: (existing?.attemptCount ?? 0) + 1,
    size: 0,
    state: isDetached ? { phase: 'completed', at: tx.now, value: undefined } : { phase: 'open', since: tx.now },
    child: {
      executionId: child.id,
      round: journal.round,
      outcome: undefined,
      isDetached: isDetached || undefined,
      mark: undefined,
    },
  })
}

function createChild(tx: Tx, execution: Execution, input: ChildInput, join: string | undefined): Execution {
  const create = { ...input.create, namespace: execution.namespace, tags: tagsOf(execution, input) }
  const child = newExecution(tx, create, 0)
  child.parent = {
    executionId: execution.id,
    life: journalOf(execution).life,
    name: input.name,
    depth: depthOf(execution, input),
    join: join === undefined ? undefined : stepKey('join', join),
    isDetached: input.isDetached === true ? true : undefined,
    isReleased: undefined,
  }
  enterQueue(tx, child)
  storeExecution(tx, child, create)
  tx.emit('execution_created', child, { until: delayOf(child), by: execution.id })
  return child
}

/** A detached child begins a chain of its own. */
function depthOf(execution: Execution, { isDetached }: ChildInput): number {
  return isDetached === true ? 0 : (execution.parent?.depth ?? 0) + 1
}

function tagsOf(execution: Execution, { create, inheritTags }: ChildInput): Tag[] {
  const inherited = execution.tags.filter(({ name }) => inheritTags?.includes(name) === true)
  return mergeTags(inherited, create.tags, [])
}

function startedChild({ input, isUsable: wasUsable }: WantedChild, step: Step | undefined): StartedChild {
  return {
    name: input.name,
    executionId: step?.child?.executionId,
    position: step?.position,
    state: step?.state,
    outcome: step?.child?.outcome,
    isNew: !wasUsable,
  }
}

/** A child of a join that was decided before: as recorded, or not started. */
function recordedChild(wanted: WantedChild): StartedChild {
  const step = wanted.isUsable ? wanted.existing : undefined
  return { ...startedChild(wanted, step), isNew: false }
}
