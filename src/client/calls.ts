/**
 * The client's calls as unions: what the kernel returned, refusals included. `fabric.try` is this; the throwing client
 * is derived from it.
 */
import { CANCEL_GRACE_DEFAULT_MS, LIST_PAGE_MAX } from '../kernel/index.ts'
import type {
  CancelResult,
  CountResult,
  CreateResult,
  ExecutionId,
  ExplainResult,
  ListResult,
  Position,
  PriorityResult,
  PublicState,
  ReplayFrom,
  ReplayResult,
  RevokeResult,
  SetTagsResult,
} from '../kernel/index.ts'
import type { Reply } from '../stores/batcher.ts'
import { executionPartition } from '../stores/store.ts'
import { CANCEL_KEYS } from './executions/cancel-options.ts'
import type { CancelOptions } from './executions/cancel-options.ts'
import { parseDuration } from './define/duration.ts'
import { executionIdFromKey, mintExecutionId, partitionOf } from './checks/ids.ts'
import { JournalCalls } from './journal/journal-calls.ts'
import {
  checkBoolean,
  checkKey,
  checkKeys,
  checkObject,
  checkOptions,
  checkPriority,
  checkReason,
} from './checks/names.ts'
import { stagingOf } from './executions/staging.ts'
import type { StagedResult, StagedSubmitOptions } from './executions/staging.ts'
import type { SubmitOptions } from './executions/submit.ts'
import { flowCalls, submitFlow } from './flows/flow-calls.ts'
import type { FlowSubmitOptions } from './flows/flow-options.ts'
import { checkTokenOptions, journalCalls, tokenFor } from './journal/journal-calls.ts'
import { bind } from './session.ts'
import type { Bound, Session } from './session.ts'

const unionCalls = { ...executionCalls, ...flowCalls, ...journalCalls }

export interface Calls extends Bound<typeof unionCalls>, Pick<Session, 'namespace' | 'resolve' | 'resolveFlow'> {
  /** @internal */
  readonly run: Session['run']
  /** @internal */
  checkTokenOptions(options: TokenOptions): void
  /** @internal */
  tokenFor(idOrKey: string, waitpoint: WaitpointView, options: TokenOptions): string
  submit<Input, Parsed, Returned, Output, Inputs, Given>(
    task: Task<Input, Parsed, Returned, Output, Inputs, Given>,
    input: Input,
    options: StagedSubmitOptions,
  ): Promise<StagedResult>
  submit<Input, Parsed, Returned, Output, Inputs, Given>(
    task: Task<Input, Parsed, Returned, Output, Inputs, Given>,
    input: Input,
    options?: SubmitOptions & { readonly tx?: never },
  ): Promise<CreateResult>
  submit<Input, Parsed, Returned, Output, Inputs, Given>(
    task: Task<Input, Parsed, Returned, Output, Inputs, Given>,
    input: Input,
    options?: SubmitOptions,
  ): Promise<CreateResult | StagedResult>
  async submit(task: AnyTask, input: unknown, options: SubmitOptions = {}): Promise<CreateResult | StagedResult> {
    checkSubmitOptions(options)
    const stage = stagingOf(options, this.batcher.store)
    const key = options.id
    const count = this.settings.executionPartitions
    const executionId =
      key === undefined
        ? mintExecutionId(this.batcher.partitionNumberToFill(), this.runtime)
        : executionIdFromKey(this.namespace, checkKey(key), count)
    // An id that nobody else can have tells a repetition by itself.
    const ids = { executionId, requestId: key === undefined ? undefined : this.runtime.uuid() }
    const prepared = await prepareSubmit({ task, input, options }, ids, this.submitSetting)
    if (stage !== undefined) {
      await stage(partitionOf(executionId), { operation: 'createExecution', ...prepared })
      return { kind: 'staged', executionId }
    }
    return (await this.run(executionId, 'createExecution', prepared.input, prepared.blobs)).result
  }

  async cancel(idOrKey: string, reason: string, options: CancelOptions = {}): Promise<CancelResult> {
    const executionId = this.resolve(idOrKey)
    checkOptions(options, CANCEL_KEYS, "{ force: true, grace: '10s' }")
    checkBoolean(options.force, 'force')
    const graceMs = options.grace === undefined ? CANCEL_GRACE_DEFAULT_MS : parseDuration(options.grace, 'grace')
    const input = {
      executionId,
      reason: checkReason(reason),
      by: checkReason(options.by ?? 'client', 'by'),
      force: options.force ?? false,
      graceMs,
    }
    return (await this.run(executionId, 'cancelExecution', input)).result
  }

  async replay(idOrKey: string, options: ReplayOptions = {}): Promise<ReplayResult> {
    const executionId = this.resolve(idOrKey)
    checkOptions(options, REPLAY_KEYS, "{ reason: 'the outage is over' }")
    const reason = options.reason === undefined ? undefined : checkReason(options.reason)
    const by = checkReason(options.by ?? 'client', 'by')
    checkBoolean(options.subtree, 'subtree')
    const from = parseReplayFrom(options.from)
    const input = { executionId, requestId: this.runtime.uuid(), reason, by, subtree: options.subtree, from }
    return (await this.run(executionId, 'replayExecution', input)).result
  }

  /** Revokes the lease that is held now, or the one given: said again, it never takes the next holder's away. */
  async revokeLease(idOrKey: string, reason: string, options: RevokeOptions = {}): Promise<RevokeResult> {
    const executionId = this.resolve(idOrKey)
    checkOptions(options, REVOKE_KEYS, "{ by: 'operator' }")
    const input = {
      executionId,
      leaseId: options.leaseId ?? (await this.#leaseOf(executionId)),
      reason: checkReason(reason),
      by: checkReason(options.by ?? 'client', 'by'),
    }
    return (await this.run(executionId, 'revokeLease', input)).result
  }

  async #leaseOf(executionId: ExecutionId): Promise<string | undefined> {
    const { result } = await this.run(executionId, 'describeExecution', { executionId })
    if (result.kind === 'refused' || result.execution.state.phase !== 'active') return undefined
    return result.execution.state.lease.id
  }

  async changePriority(idOrKey: string, priority: number): Promise<PriorityResult> {
    const executionId = this.resolve(idOrKey)
    return (await this.run(executionId, 'changePriority', { executionId, priority: checkPriority(priority) })).result
  }

  /** Sets the tags that have a value and removes those that are `undefined`. */
  async setTags(idOrKey: string, tags: Readonly<Record<string, string | undefined>>): Promise<SetTagsResult> {
    const executionId = this.resolve(idOrKey)
    const input = { executionId, ...splitTags(tags, this.settings.indexedTags) }
    return (await this.run(executionId, 'setTags', input)).result
  }

  describe(idOrKey: string, parts: DescribedParts = {}): Promise<Reply<'describeExecution'>> {
    const executionId = this.resolve(idOrKey)
    const { attempts, payload, result } = parts
    return this.run(executionId, 'describeExecution', { executionId, attempts, payload, result })
  }

  async why(idOrKey: string): Promise<ExplainResult> {
    const executionId = this.resolve(idOrKey)
    return (await this.run(executionId, 'explainExecution', { executionId })).result
  }

  /**
   * One step of a listing in one partition.
   * @internal
   */
  async listStep(
    partition: number,
    query: ListQuery,
    limit: number,
    cursor: Position | undefined,
  ): Promise<ListResult> {
    const tag =
      query.tag === undefined
        ? undefined
        : { ...query.tag, indexed: this.settings.indexedTags.includes(query.tag.name) }
    const input = { ...query, tag, limit: Math.min(limit, LIST_PAGE_MAX), cursor }
    return (await this.ask(executionPartition(partition), 'listExecutions', input)).result
  }

  /** @internal */
  async countStep(partition: number, lane: string | undefined, cursor: Position | undefined): Promise<CountResult> {
    return (await this.ask(executionPartition(partition), 'countExecutions', { lane, cursor })).result
  }
}

export function callsOf(session: Session): Calls {
  return {
    ...bind({ ...unionCalls, checkTokenOptions, tokenFor }, session),
    submit: submitTask.bind(undefined, session) as Calls['submit'],
    submitFlow: async (flow, input, options = {}) => (await submitFlow(session, flow, input, options)).result,
    namespace: session.namespace,
    resolve: (idOrKey) => session.resolve(idOrKey),
    resolveFlow: (idOrKey) => session.resolveFlow(idOrKey),
    run: (id, operation, input, blobs) => session.run(id, operation, input, blobs),
  }
}
