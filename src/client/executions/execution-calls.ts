/** The calls that concern executions, as unions: what the kernel returned, refusals included. */
import { boolean, required, shape } from '../../options/shape.ts'
import { CANCEL_GRACE_DEFAULT_MS } from '../../kernel/index.ts'
import type {
  DeleteExecutionResult,
  CancelResult,
  ContinueOrderResult,
  CreateResult,
  ExecutionId,
  ExplainResult,
  PriorityResult,
  ReplayFrom,
  ReplayResult,
  RevokeResult,
  SetTagsResult,
} from '../../kernel/index.ts'
import type { Reply } from '../../stores/batcher.ts'
import { sendSpan } from '../transport/send-span.ts'
import { ADMISSION_LEVEL, levelTooLow } from '../../stores/level/store-level.ts'
import { checkKey, checkPrincipal, checkPriority, checkReason } from '../checks/names.ts'
import { checkRecordedName } from '../checks/step-names.ts'
import { checkTask } from '../define/task.ts'
import type { AnyTask } from '../define/task.ts'
import { shapingOf } from '../define/shaping.ts'
import { declaredLimitsOf } from '../limits/declared-limits.ts'
import type { Session } from '../session.ts'
import { executionIdFromKey, mintExecutionId, partitionOf, shapedExecutionId } from '../transport/ids.ts'
import { cancelOptions } from './cancel-options.ts'
import type { CancelOptions } from './cancel-options.ts'
import { stagingOf } from './staging.ts'
import type { StagedResult } from './staging.ts'
import { fairPlacementOf } from './fair-placement.ts'
import type { Placed } from './fair-placement.ts'
import { prepareParsed, resolveDelay, submitOptions } from './submit.ts'
import type { SubmitOptions } from './submit.ts'
import { splitTags } from './tag-changes.ts'

export interface ReplayOptions {
  readonly reason?: string
  readonly by?: string
  /** In a flow: also replays the members that were skipped because of it. */
  readonly subtree?: boolean
  /**
   * Discards recorded steps: all from `start`, or the named step and those after it. Unless given, recorded steps are kept,
   * and only failed or missing ones run.
   */
  readonly from?: 'start' | { readonly step: string }
}

const replayStart = shape<Exclude<ReplayOptions['from'], string | undefined>>()("{ step: 'charge' }, or be 'start'", {
  step: required(checkRecordedName),
})

const replayOptions = shape<ReplayOptions>()("{ reason: 'the outage is over' }", {
  reason: checkReason,
  by: checkPrincipal,
  subtree: boolean,
  from: (from, field): ReplayFrom =>
    from === 'start' ? { kind: 'start' } : { kind: 'step', name: replayStart(from, field).step },
})

export interface RevokeOptions {
  readonly leaseId?: string
  readonly by?: string
}

const revokeOptions = shape<RevokeOptions>()("{ by: 'operator' }", { leaseId: checkKey, by: checkPrincipal })

/** The optional parts of a description. */
export interface DescribedParts {
  readonly attempts?: boolean
  readonly payload?: boolean
  readonly result?: boolean
  /** The results of its upstreams. */
  readonly inputs?: boolean
}

const describedParts = shape<DescribedParts>()('{ payload: true }', {
  attempts: boolean,
  payload: boolean,
  result: boolean,
  inputs: boolean,
})

export interface ContinueOrderOptions {
  readonly reason?: string
  readonly by?: string
}

const continueOptions = shape<ContinueOrderOptions>()("{ reason: 'it is repaired by hand' }", {
  reason: checkReason,
  by: checkPrincipal,
})

/** A submit is a span, and the runs of the execution are spans below it. Throws at once what is wrong with the task. */
export function submitTask(
  session: Session,
  task: AnyTask,
  input: unknown,
  options: SubmitOptions = {},
  requestId: string = session.runtime.uuid(),
): Promise<CreateResult | StagedResult> {
  const { name } = checkTask(task)
  return session.batcher.tracing.span(
    () => sendSpan(name),
    () => submitInSpan(session, task, input, options, requestId),
    (span, result) => {
      if (result.kind === 'refused') span.fail(result.code)
      else span.set('messaging.message.id', result.executionId)
    },
  )
}

async function submitInSpan(
  session: Session,
  task: AnyTask,
  input: unknown,
  options: SubmitOptions,
  requestId: string,
): Promise<CreateResult | StagedResult> {
  const { batcher, runtime, namespace, settings } = session
  const parsed = submitOptions(resolveDelay(options, runtime.now()))
  const stage = stagingOf(parsed, batcher.store)
  const key = parsed.id
  const shaping = shapingOf(parsed)
  if (shaping !== undefined) refuseLowLevel(session)
  const executionId =
    shaping !== undefined
      ? shapedExecutionId({ namespace, task: task.name, ...shaping, requestId }, settings.executionPartitions)
      : key !== undefined
        ? executionIdFromKey(namespace, key, settings.executionPartitions)
        : task.fairness === undefined
          ? mintExecutionId(
              stage === undefined ? batcher.partitionNumberToFill() : batcher.nextPartitionNumber(),
              runtime,
            )
          : (placed: Placed) => mintExecutionId(fairPlacementOf(batcher, runtime).nextNumber(placed), runtime)
  // A minted id is unique, so a retry needs no request id to be recognised.
  const ids = { executionId, requestId: key === undefined ? undefined : requestId }
  const trace = batcher.tracing.current()
  const { codec } = batcher
  const limits = declaredLimitsOf(batcher, runtime)
  const setting = { namespace, indexedTags: settings.indexedTags, limits, trace, codec }
  const prepared = await prepareParsed({ task, input, options: parsed }, ids, setting)
  const createdId = prepared.input.executionId
  if (stage !== undefined) {
    const call = { operation: 'createExecution', ...prepared } as const
    await stage(partitionOf(createdId), codec === undefined ? call : await codec.encodeCall(call))
    return {
      kind: 'staged',
      executionId: createdId,
      digest: parsed.ifExists === undefined ? prepared.input.digest : undefined,
    }
  }
  return (await session.run(createdId, 'createExecution', prepared.input, prepared.blobs)).result
}

function refuseLowLevel({ batcher }: Session): void {
  const refusal = levelTooLow(batcher.store, ADMISSION_LEVEL, 'A shaped submit')
  if (refusal !== undefined) throw refusal
}

/** Lets the executions of an order run that wait behind a failed one. */
async function continueOrder(
  session: Session,
  idOrKey: string,
  options: ContinueOrderOptions = {},
): Promise<ContinueOrderResult> {
  const executionId = session.resolve(idOrKey)
  const { by = 'client', reason } = continueOptions(options)
  return (await session.run(executionId, 'continueOrder', { executionId, reason, by })).result
}

async function cancelExecution(
  session: Session,
  idOrKey: string,
  reason: string,
  options: CancelOptions = {},
): Promise<CancelResult> {
  const executionId = session.resolve(idOrKey)
  const { by = 'client', force = false, grace: graceMs = CANCEL_GRACE_DEFAULT_MS } = cancelOptions(options)
  const input = { executionId, reason: checkReason(reason), by, force, graceMs }
  return (await session.run(executionId, 'cancelExecution', input)).result
}

export async function replayExecution(
  session: Session,
  idOrKey: string,
  options: ReplayOptions = {},
  requestId: string = session.runtime.uuid(),
): Promise<ReplayResult> {
  const executionId = session.resolve(idOrKey)
  const { by = 'client', ...rest } = replayOptions(options)
  const input = { executionId, requestId, by, ...rest }
  return (await session.run(executionId, 'replayExecution', input)).result
}

/** Revokes the current lease, or the one given. A retry never revokes the lease of the next holder. */
async function revokeLease(
  session: Session,
  idOrKey: string,
  reason: string,
  options: RevokeOptions = {},
): Promise<RevokeResult> {
  const executionId = session.resolve(idOrKey)
  const { by = 'client', leaseId = await leaseOf(session, executionId) } = revokeOptions(options)
  const input = { executionId, leaseId, reason: checkReason(reason), by }
  return (await session.run(executionId, 'revokeLease', input)).result
}

async function leaseOf(session: Session, executionId: ExecutionId): Promise<string | undefined> {
  const { result } = await session.run(executionId, 'describeExecution', { executionId })
  if (result.kind === 'refused' || result.execution.state.phase !== 'active') return undefined
  return result.execution.state.lease.id
}

async function changePriority(session: Session, idOrKey: string, priority: number): Promise<PriorityResult> {
  const executionId = session.resolve(idOrKey)
  return (await session.run(executionId, 'changePriority', { executionId, priority: checkPriority(priority) })).result
}

/** Calls of one removal. Each of them removes as many steps as fit one operation. */
const DELETE_CALLS_MAX = 1_000

async function deleteExecution(session: Session, idOrKey: string, by: string): Promise<DeleteExecutionResult> {
  const executionId = session.resolve(idOrKey)
  for (let call = 1; ; call++) {
    const { result } = await session.run(executionId, 'deleteExecution', { executionId, by })
    if (result.kind !== 'deleting' || call === DELETE_CALLS_MAX) return result
  }
}

/** Sets the tags that have a value and removes those that are `undefined`. */
async function setTags(
  session: Session,
  idOrKey: string,
  tags: Readonly<Record<string, string | undefined>>,
): Promise<SetTagsResult> {
  const executionId = session.resolve(idOrKey)
  const input = { executionId, ...splitTags(tags, session.settings.indexedTags) }
  return (await session.run(executionId, 'setTags', input)).result
}

export function describeExecution(
  session: Session,
  idOrKey: string,
  parts: DescribedParts = {},
): Promise<Reply<'describeExecution'>> {
  const executionId = session.resolve(idOrKey)
  const { attempts, payload, result } = describedParts(parts, 'parts')
  return session.run(executionId, 'describeExecution', { executionId, attempts, payload, result })
}

export async function explainExecution(session: Session, idOrKey: string): Promise<ExplainResult> {
  const executionId = session.resolve(idOrKey)
  return (await session.run(executionId, 'explainExecution', { executionId })).result
}

/** One page of the results that upstreams passed to a member, from after an upstream on. */
export function readInputs(session: Session, idOrKey: string, from?: ExecutionId): Promise<Reply<'readInputs'>> {
  const executionId = session.resolve(idOrKey)
  return session.run(executionId, 'readInputs', { executionId, from })
}

/** Those whose types need no overloads; `submit` has its own. */
export const executionCalls = {
  cancel: cancelExecution,
  replay: replayExecution,
  continueOrder,
  revokeLease,
  changePriority,
  deleteExecution,
  setTags,
  describe: describeExecution,
  why: explainExecution,
  readInputs,
}
