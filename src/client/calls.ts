/**
 * The client's calls as unions: what the kernel answered, refusals included. `fabric.try` is this; the throwing client
 * is a thin layer over it.
 */
import { CANCEL_GRACE_DEFAULT_MS, LIST_PAGE_MAX, readyIndex } from '../kernel/index.ts'
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
import { executionIdFromKey, mintExecutionId, partitionOf } from './transport/ids.ts'
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
import { checkSubmitOptions, prepareSubmit } from './executions/submit.ts'
import type { SubmitOptions } from './executions/submit.ts'
import { splitTags } from './executions/tag-changes.ts'
import type { AnyTask, Task } from './define/task.ts'

export interface ReplayOptions {
  readonly reason?: string
  readonly by?: string
  /** In a flow: replays everything that was skipped because of it as well. */
  readonly subtree?: boolean
  /**
   * Does anew what was recorded from here on: `start`, or the step of a name and all after it. Left out, what was recorded
   * is kept, and only what failed or was not reached runs.
   */
  readonly from?: 'start' | { readonly step: string }
}

const REPLAY_KEYS = ['reason', 'by', 'subtree', 'from'] as const satisfies readonly (keyof ReplayOptions)[]

export interface RevokeOptions {
  readonly leaseId?: string
  readonly by?: string
}

const REVOKE_KEYS = ['leaseId', 'by'] as const satisfies readonly (keyof RevokeOptions)[]

/** What a description carries besides the execution itself. */
export interface DescribedParts {
  readonly attempts?: boolean
  readonly payload?: boolean
  readonly result?: boolean
  /** The results that upstreams have handed on to it. */
  readonly inputs?: boolean
}

export interface ListQuery {
  readonly lane?: string
  readonly task?: string
  readonly state?: PublicState
  readonly tag?: { readonly name: string; readonly value: string }
  /** All namespaces if left out. */
  readonly namespace?: string
  readonly createdFrom?: number
  readonly createdTo?: number
}

export const LIST_QUERY_KEYS = [
  'lane',
  'task',
  'state',
  'tag',
  'namespace',
  'createdFrom',
  'createdTo',
] as const satisfies readonly (keyof ListQuery)[]

export class Calls extends JournalCalls {
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
    const { lane, class: className, delayMs = 0 } = prepared.input
    const answer = this.run(executionId, 'createExecution', prepared.input, prepared.blobs)
    if (delayMs <= 0) this.batcher.announceSubmit(partitionOf(executionId), readyIndex(lane, className))
    return (await answer).result
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

function parseReplayFrom(from: ReplayOptions['from']): ReplayFrom | undefined {
  if (from === undefined) return undefined
  if (from === 'start') return { kind: 'start' }
  checkObject(from, 'from', "{ step: 'charge' }, or be 'start'")
  checkKeys(from, ['step'], 'from')
  return { kind: 'step', name: checkKey(from.step, 'from.step') }
}
