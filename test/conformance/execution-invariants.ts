/** What an execution's own record must agree with: its lease, its counters, its limits and its bytes. */
import {
  COMPENSATION_RECLAIM_COUNT,
  RECLAIM_CAP,
  REPLAY_CAP,
  TAG_COUNT_MAX,
  flowInputKey,
  followUpKey,
  payloadKeyOf,
  resultKey,
  scheduleInputKey,
  scheduleNodeKey,
  signalPayloadKey,
  stepValueKey,
} from '../../src/kernel/index.ts'
import type { Execution, Flow, PendingNode, Schedule } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { streamKeys } from './stream-invariants.ts'

export function executionsOf(dump: PartitionDump): Execution[] {
  return dump.records.filter((record) => record.type === 'execution')
}

export function executionProblems(dump: PartitionDump): string[] {
  const executions = executionsOf(dump)
  const problems = executions.flatMap((execution) =>
    brokenRules(execution).map((rule) => `${execution.id} breaks the rule: ${rule}`),
  )
  return [...problems, ...blobProblems(dump, executions)]
}

function brokenRules(execution: Execution): string[] {
  const { state, attempt, lastLease, tags } = execution
  const lease = state.phase === 'active' ? state.lease : undefined
  const reclaimCap = RECLAIM_CAP + (execution.unwinding === undefined ? 0 : COMPENSATION_RECLAIM_COUNT)
  const names = tags.map((tag) => tag.name)
  const rules: Record<string, boolean> = {
    'who is active has an attempt': state.phase !== 'active' || attempt !== undefined,
    'a lease names its holder and its end':
      lease === undefined || (lease.id !== '' && lease.workerId !== '' && lease.expiresAt >= lease.acquiredAt),
    'the attempt that runs is run by the holder of the lease':
      lease === undefined || attempt?.workerInstanceId === lease.workerInstanceId,
    'while a lease is held no earlier one is remembered': lease === undefined || lastLease === undefined,
    'the lease remembered is the latest': lastLease === undefined || lastLease.epoch === execution.epoch,
    'every attempt costs an epoch': execution.epoch >= (attempt?.number ?? 0),
    // A follow-up that has not started has the attempts of earlier runs.
    'an attempt has a beginning':
      (attempt === undefined) === (execution.startedAt === undefined) ||
      (execution.startedAt === undefined && execution.pastRequests !== undefined),
    'only what has not ended, or waits until its children are cancelled, has a follow-up':
      execution.followUp === undefined ||
      (execution.member === undefined && (state.phase !== 'ended' || execution.journal?.childCancels !== undefined)),
    'an execution of which only the id is kept has ended and owns nothing':
      execution.removed === undefined ||
      (state.phase === 'ended' &&
        (execution.dedupeMs ?? 0) > execution.retentionMs &&
        execution.journal === undefined &&
        execution.payload === undefined &&
        execution.result === undefined &&
        execution.lastReplay === undefined &&
        execution.unwinding === undefined &&
        execution.parent === undefined),
    'what is first is not a continuation': attempt !== undefined || execution.next === 'initial',
    'failures stay within the policy':
      execution.failureCount >= 0 && execution.failureCount <= execution.retry.attempts,
    'what may still run has an attempt left':
      state.phase === 'ended' || execution.unwinding !== undefined || execution.failureCount < execution.retry.attempts,
    'reclaims stay within the cap': execution.reclaimCount >= 0 && execution.reclaimCount <= reclaimCap,
    'replays stay within the cap': execution.replayCount >= 0 && execution.replayCount <= REPLAY_CAP,
    'who was replayed knows by whom':
      execution.removed !== undefined || execution.replayCount > 0 === (execution.lastReplay !== undefined),
    'only what completed has a result':
      execution.result === undefined || (state.phase === 'ended' && state.outcome === 'completed'),
    'tags have one value for a name, in order':
      tags.length <= TAG_COUNT_MAX && names.every((name, i) => i === 0 || names[i - 1]! < name),
    'nothing began before it was created':
      execution.changedAt >= execution.createdAt && (execution.startedAt ?? Infinity) >= execution.createdAt,
  }
  return Object.keys(rules).filter((rule) => rules[rule] !== true)
}

/** The bytes that a flow owns beside its members: the input of its definition, and what waits for a follow-up. */
export function flowKeys(flow: Flow): string[] {
  const { id, run, input, followUp, begins, memberCount } = flow
  const next = (run ?? 0) + 1
  const waiting = (nodes: readonly PendingNode[], payloadSlot: number | undefined) =>
    nodes
      .filter(({ payload }) => payload !== undefined)
      .map(({ executionId }) => payloadKeyOf({ id: executionId, payloadSlot }))
  return [
    ...(input === undefined ? [] : [flowInputKey(flow)]),
    ...(followUp?.input === undefined ? [] : [flowInputKey({ id, inputSlot: next })]),
    ...waiting(followUp?.nodes ?? [], next),
    ...waiting(begins?.nodes.slice(memberCount) ?? [], run),
  ]
}

function blobProblems({ records, blobKeys }: PartitionDump, executions: readonly Execution[]): string[] {
  const expected = new Set<string>()
  /** What a member had completed with before it was replayed may still be handed on until it completes again. */
  const kept = new Set<string>()
  for (const execution of executions) {
    const { id, payload, result, member, lastReplay, followUp } = execution
    if (payload !== undefined) expected.add(payloadKeyOf(execution))
    if (followUp?.payload !== undefined) expected.add(followUpKey(execution))
    if (result !== undefined) expected.add(resultKey(id))
    else if (member !== undefined && lastReplay !== undefined) kept.add(resultKey(id))
  }
  for (const record of records) {
    if (record.type === 'flow') for (const key of flowKeys(record)) expected.add(key)
    for (const key of streamKeys(record)) expected.add(key)
    if (record.type === 'signal' && record.payload !== undefined) expected.add(signalPayloadKey(record.id))
    if (record.type === 'schedule') for (const key of inputsOf(record)) expected.add(key)
    if (record.type !== 'step' || record.state.phase !== 'completed') continue
    if (record.state.value === undefined) continue
    // The result of a child is not copied.
    expected.add(record.child === undefined ? stepValueKey(record.id) : resultKey(record.child.executionId))
  }
  const stored = new Set(blobKeys)
  const problems: string[] = []
  if (stored.size !== blobKeys.length) problems.push('bytes are stored twice')
  for (const key of stored)
    if (!expected.has(key) && !kept.has(key)) problems.push(`the bytes ${key} belong to nothing`)
  for (const key of expected) if (!stored.has(key)) problems.push(`the bytes ${key} are missing`)
  return problems
}

function inputsOf(schedule: Schedule): string[] {
  const { work, flow } = schedule
  const whole = work.payload !== undefined || flow?.input !== undefined ? [scheduleInputKey(schedule)] : []
  const nodes = flow?.nodes ?? []
  return [...whole, ...nodes.flatMap(({ payload }, i) => (payload === undefined ? [] : [scheduleNodeKey(schedule, i)]))]
}
