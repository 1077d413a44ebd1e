/** Reads the journal of an execution: its steps, signals and waitpoints. */
import { signalPayloadKey } from '../../model/blob-keys.ts'
import { idsOf } from '../../model/order.ts'
import type { Position } from '../../model/order.ts'
import { OPEN_WAITPOINTS_INDEX, signalsIndex, stepsIndex, waitpointsIndex } from '../../model/indexes.ts'
import type { Journal, Signal, Step, Waitpoint } from '../../model/journal-schema.ts'
import {
  LIST_SCAN_COUNT,
  SIGNAL_PAGE_BYTES,
  SIGNAL_PAGE_MAX,
  STEP_PAGE_BYTES,
  STEP_PAGE_MAX,
  WAITPOINT_PAGE_MAX,
} from '../../limits.ts'
import type { Execution, ExecutionId, Instant } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Range, Tx } from '../../tx.ts'
import { currentStep, currentStepId } from '../../lifecycle/find-step.ts'
import { sendersOf } from '../../rules/condition.ts'
import { isCut, isMailbox, openWaitpointOf, scopeOf } from '../../rules/journal-ids.ts'
import { valueKeyOf } from '../../rules/step-value.ts'
import { matchesFilter } from '../../rules/tenant-filter.ts'
import { isFinal } from './record-step.ts'

export interface ReadStepsInput {
  readonly executionId: ExecutionId
  /** The first position to return. */
  readonly from?: number | undefined
  readonly limit?: number | undefined
  /** Whether to send the bytes of values too. */
  readonly values?: boolean | undefined
}

/** A step, and the position of its value among the blobs of the reply. */
export interface StepView {
  readonly step: Step
  readonly valueBlob: number | undefined
  /** Whether a running handler gets its recorded result. */
  readonly isFinal: boolean
}

export type ReadStepsResult =
  | {
      readonly kind: 'steps'
      readonly steps: StepView[]
      /** Where the next page begins. Absent on the last page. */
      readonly next: number | undefined
      readonly at: Instant
    }
  | Refused<'execution_not_found'>

export function readSteps(tx: Tx, input: ReadStepsInput): ReadStepsResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  const journal = execution.journal
  const steps: StepView[] = []
  if (journal === undefined) return { kind: 'steps', steps, next: undefined, at: tx.now }
  const range = stepsRange(scopeOf(execution.id, journal), pastCuts(journal, input.from ?? 0), input.limit)
  const page = tx.scan(range, 'step')
  let bytes = 0
  for (const step of page) {
    if (isCut(journal, step.position)) continue
    const value = step.state.phase === 'completed' ? step.state.value : undefined
    bytes = bytes + (value?.size ?? 0)
    if (input.values === true && steps.length > 0 && bytes > STEP_PAGE_BYTES) {
      return { kind: 'steps', steps, next: step.position, at: tx.now }
    }
    const isSent = input.values === true && value !== undefined
    const valueBlob = isSent ? tx.send(valueKeyOf(step), value.size) : undefined
    steps.push({ step, valueBlob, isFinal: isFinal(step, journal) })
  }
  const last = page[page.length - 1]
  const next = page.length < range.limit || last === undefined ? undefined : last.position + 1
  return { kind: 'steps', steps, next, at: tx.now }
}

/** The steps of one life of an execution, from a position on. */
export function stepsRange(scope: string, from: number, limit: number | undefined): Range {
  return { index: stepsIndex(scope), from: { score: from }, limit: pageLimit(limit, STEP_PAGE_MAX) }
}

function pageLimit(wanted: number | undefined, most: number): number {
  return Math.max(1, Math.min(wanted ?? most, most))
}

/** Returns the first position from here on that is not cut. */
function pastCuts(journal: Journal, from: number): number {
  let position = from
  for (const cut of journal.cuts) if (position >= cut.from && position < cut.to) position = cut.to
  return position
}

export interface ReadSignalsInput {
  readonly executionId: ExecutionId
  /** The first number to return. */
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly limit?: number | undefined
  readonly payloads?: boolean | undefined
}

export interface SignalView {
  readonly signal: Signal
  readonly payloadBlob: number | undefined
}

export type ReadSignalsResult =
  | {
      readonly kind: 'signals'
      readonly signals: SignalView[]
      readonly next: number | undefined
      readonly at: Instant
    }
  | Refused<'execution_not_found'>

export function readSignals(tx: Tx, input: ReadSignalsInput): ReadSignalsResult {
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  const signals: SignalView[] = []
  const range = signalsRange(scopeOf(execution.id, execution.journal), input)
  const page = tx.scan(range, 'signal')
  let bytes = 0
  for (const signal of page) {
    bytes = bytes + (signal.payload?.size ?? 0)
    if (input.payloads === true && signals.length > 0 && bytes > SIGNAL_PAGE_BYTES) {
      return { kind: 'signals', signals, next: signal.sequence, at: tx.now }
    }
    const payload = input.payloads === true ? signal.payload : undefined
    const payloadBlob = payload === undefined ? undefined : tx.send(signalPayloadKey(signal.id), payload.size)
    signals.push({ signal, payloadBlob })
  }
  const last = page[page.length - 1]
  const next = page.length < range.limit || last === undefined ? undefined : last.sequence + 1
  return { kind: 'signals', signals, next, at: tx.now }
}

/** The signals of one life of an execution, from a number on. */
export function signalsRange(scope: string, input: ReadSignalsInput): Range {
  const limit = pageLimit(input.limit, SIGNAL_PAGE_MAX)
  return { index: signalsIndex(scope), from: { score: input.from ?? 1 }, to: input.to, limit }
}

export interface ListWaitpointsInput {
  readonly executionId: ExecutionId
  /** Includes closed waitpoints and mailboxes. */
  readonly all?: boolean | undefined
  readonly cursor?: Position | undefined
  readonly limit?: number | undefined
}

/** A waitpoint as an operator may see it. */
export interface ListedWaitpoint {
  readonly waitpoint: Waitpoint
  readonly task: string
  readonly state: 'pending' | 'awaited' | 'mailbox' | 'closed'
  readonly expiresAt: Instant | undefined
  /** The current wait at it. */
  readonly step: string | undefined
  /** The names of the awaited signals; empty: any. */
  readonly names: string[]
  /** The identities whose signals the wait counts; empty: those of anyone. */
  readonly from: string[]
}

export interface WaitpointPage {
  readonly kind: 'waitpoints'
  readonly waitpoints: ListedWaitpoint[]
  readonly cursor: Position | undefined
  readonly at: Instant
}

export type ListWaitpointsResult = WaitpointPage | Refused<'execution_not_found'>

export function listWaitpoints(tx: Tx, input: ListWaitpointsInput): ListWaitpointsResult {
  const limit = pageLimit(input.limit, WAITPOINT_PAGE_MAX)
  const execution = tx.get('execution', input.executionId)
  if (execution === undefined) return refused('execution_not_found', { executionId: input.executionId })
  const page = tx.scan(waitpointsRange(scopeOf(execution.id, execution.journal), input.cursor), 'waitpoint')
  const step = currentStep(tx, execution)
  const waitpoints: ListedWaitpoint[] = []
  let last: Waitpoint | undefined = undefined
  for (const waitpoint of page) {
    if (waitpoints.length === limit) break
    last = waitpoint
    const listed = listedAs(execution, step, waitpoint)
    if (input.all === true || listed.state === 'pending' || listed.state === 'awaited') waitpoints.push(listed)
  }
  const isLast = page.length < LIST_SCAN_COUNT && last?.id === page[page.length - 1]?.id
  const cursor = isLast || last === undefined ? undefined : { score: 0, id: last.id }
  return { kind: 'waitpoints', waitpoints, cursor, at: tx.now }
}

/** The waitpoints of one life of an execution. */
export function waitpointsRange(scope: string, from: Position | undefined): Range {
  return { index: waitpointsIndex(scope), from, limit: LIST_SCAN_COUNT }
}

export interface ListOpenWaitpointsInput {
  /** Lists those of executions of this namespace only. */
  readonly namespace?: string | undefined
  readonly cursor?: Position | undefined
  readonly limit?: number | undefined
}

/** Lists all open waitpoints of the partition, oldest first. */
export function listOpenWaitpoints(tx: Tx, input: ListOpenWaitpointsInput): WaitpointPage {
  const range = openWaitpointsRange(input)
  const entries = tx.range(range)
  const found = tx.getMany('waitpoint', idsOf(entries))
  const executionIds: string[] = []
  for (const { executionId } of found) executionIds.push(executionId)
  const byId: Record<string, Execution> = {}
  const stepIds: string[] = []
  for (const execution of tx.getMany('execution', executionIds)) {
    if (byId[execution.id] !== undefined) continue
    byId[execution.id] = execution
    const stepId = currentStepId(execution)
    if (stepId !== undefined) stepIds.push(stepId)
  }
  const steps: Record<string, Step> = {}
  for (const step of tx.getMany('step', stepIds)) steps[step.id] = step
  const waitpoints: ListedWaitpoint[] = []
  for (const waitpoint of found) {
    const execution = byId[waitpoint.executionId]
    if (execution === undefined || !matchesFilter(execution, input)) continue
    const stepId = currentStepId(execution)
    waitpoints.push(listedAs(execution, stepId === undefined ? undefined : steps[stepId], waitpoint))
  }
  const last = entries[entries.length - 1]
  const cursor = entries.length < range.limit || last === undefined ? undefined : { score: last.score, id: last.id }
  return { kind: 'waitpoints', waitpoints, cursor, at: tx.now }
}

export function openWaitpointsRange(input: ListOpenWaitpointsInput): Range {
  return { index: OPEN_WAITPOINTS_INDEX, from: input.cursor, limit: pageLimit(input.limit, WAITPOINT_PAGE_MAX) }
}

/** `step` is the step that the execution waits in. */
function listedAs(execution: Execution, step: Step | undefined, waitpoint: Waitpoint): ListedWaitpoint {
  const target = waitpoint.target
  const state = execution.state
  const isAwaited = step?.wait?.targets.includes(target) === true
  const names: string[] = []
  for (const node of isAwaited ? (step.wait?.nodes ?? []) : []) {
    if (node.kind === 'leaf' && node.targets.includes(target) && node.name !== undefined) names.push(node.name)
  }
  const open = openWaitpointOf(execution.journal, target)
  const isOpen = open !== undefined || (isMailbox(target) && state.phase !== 'ended')
  return {
    waitpoint,
    task: execution.task,
    state: !isOpen ? 'closed' : isAwaited ? 'awaited' : isMailbox(target) ? 'mailbox' : 'pending',
    expiresAt: isAwaited && state.phase === 'suspended' ? state.until : open?.expiresAt,
    step: isAwaited ? step.name : undefined,
    names,
    from: isAwaited ? sendersOf(step.wait?.nodes ?? [], target) : [],
  }
}
