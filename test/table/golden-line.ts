/** One cell of the table as a line that a person can check against the specification. Times count from the start. */
import type { Execution, ExecutionId, FabricEvent, OperationName, OperationResult } from '../../src/kernel/index.ts'
import { nameText } from './trials/canonical-text.ts'
import { flowId, nodeName } from './trials/flow-world.ts'
import { storedEntries, storedRecord } from './trials/memory.ts'
import type { Memory } from './trials/memory.ts'
import type { Outcome, Saying } from './trials/table.ts'
import { START_AT, executionId } from './trials/world.ts'
import { journalResultText, journalText, suspensionText } from './journal-line.ts'

type AnyResult = OperationResult<OperationName>

/** Indexes whose scores are moments at which something happens. */
const timedIndexes = ['due', 'purge']

function since(instant: number): string {
  return `+${(instant - START_AT) / 1000}s`
}

function details(parts: readonly (string | false | undefined)[]): string {
  return parts.filter((part) => part !== false && part !== undefined).join(' ')
}

function resultText(result: AnyResult): string {
  switch (result.kind) {
    case 'refused':
      return `refused ${result.code}`
    case 'created':
    case 'replaced':
    case 'joined':
      return `${result.kind} ${result.state} ${since(result.at)}`
    case 'claimed':
      return details([
        'claimed',
        ...result.executions.map(
          (one) =>
            `(${one.fence.leaseId} epoch ${one.fence.epoch} attempt ${one.fence.attempt} ${one.attemptKind} payload ${one.payloadBlob ?? 'none'})`,
        ),
        result.executions.length === 0 && 'nothing',
        result.more && 'more',
      ])
    case 'renewed':
      return details([
        'renewed to',
        since(result.expiresAt),
        result.cancel && `cancel by ${since(result.cancel.forceAt)}`,
      ])
    case 'retry_scheduled':
    case 'already_scheduled':
      return `${result.kind} ${since(result.retryAt)}`
    case 'delayed':
    case 'already_delayed':
      return `${result.kind} to ${since(result.until)}`
    case 'cancel_requested':
      return `${result.kind} by ${since(result.forceAt)}`
    case 'revoked':
      return details([result.kind, result.leaseId, result.ended])
    case 'changed':
    case 'unchanged':
      return `${result.kind} ${result.from} to ${result.to}`
    case 'set':
      return `${result.kind} ${result.tags.map((tag) => `${tag.name}=${tag.value}`).join(' ')}`
    case 'replayed':
    case 'already_replayed':
      return `${result.kind} ${result.replayCount}`
    case 'due':
      return details([
        'due',
        ...result.handled.map((one) => one.case),
        result.next && 'more',
        result.nextDueAt !== undefined && `next ${since(result.nextDueAt)}`,
      ])
    case 'purged':
      return details([
        `purged ${result.purged.length}`,
        result.purgedFlows.length > 0 && `flows ${result.purgedFlows.length}`,
        result.next && 'more',
        result.nextDueAt !== undefined && `next ${since(result.nextDueAt)}`,
      ])
    case 'reconciled':
    case 'dependencies_reconciled':
      return details([
        `examined ${result.examined}, repaired ${result.repaired.length}`,
        ...result.repaired.map(({ problem }) => problem),
        result.cursor === undefined && 'done',
      ])
    case 'siblings_reconciled':
      return details(['reconciled', ...result.outcomes.map((one) => one.outcome)])
    case 'cancels_reconciled':
      return `walked ${result.walked.length}, stale ${result.removedStale.length}, left ${result.depth}`
    case 'audited':
      return details([`audited ${result.audited}`, ...result.drifts.map((drift) => `drift ${drift.what}`)])
    case 'inspected':
      return details([
        `inspected ${result.executions}`,
        result.flows > 0 && `flows ${result.flows}`,
        result.due.count > 0 && `due ${result.due.count}`,
        result.due.oldestAt !== undefined && `oldest ${since(result.due.oldestAt)}`,
        result.due.nextAt !== undefined && `next ${since(result.due.nextAt)}`,
        result.purge.count > 0 && `to purge ${result.purge.count}`,
        result.purge.oldestAt !== undefined && `oldest ${since(result.purge.oldestAt)}`,
        result.purge.nextAt !== undefined && `purge next ${since(result.purge.nextAt)}`,
        result.siblingCancels.count > 0 && `sibling cancels ${result.siblingCancels.count}`,
        result.flowCancels.count > 0 && `flow cancels ${result.flowCancels.count}`,
      ])
    case 'described':
      return details([
        `described ${result.state}`,
        ...result.attempts.map((attempt) => `(attempt ${attempt.number} ${attempt.kind} ${attempt.outcome})`),
        result.payloadBlob !== undefined && 'with payload',
        result.resultBlob !== undefined && 'with result',
      ])
    case 'flow_described':
      return details([
        `described ${result.view.state}`,
        `live ${result.view.liveCount}`,
        result.view.settled && 'settled',
      ])
    case 'listed':
      return details([`listed ${result.executions.length}`, result.cursor && 'more'])
    case 'queues_listed':
      return `listed ${result.queues.length} queues`
    case 'flows_listed':
      return `listed ${result.flows.length} flows`
    case 'members_listed':
      return details([
        `listed ${result.members.length}`,
        ...result.members.map(({ execution, upstreams }) => `${execution.member?.name} after ${upstreams.length}`),
      ])
    case 'edges_listed':
      return details([`listed ${result.edges.length}`, ...result.edges.map((edge) => edge.state)])
    case 'counted':
      return details([
        'counted',
        ...result.lanes.map(
          (lane) => `${lane.lane}: ${lane.counts.map((one) => `${one.count} ${one.state}`).join(' ')}`,
        ),
        result.lanes.length === 0 && 'nothing',
      ])
    case 'explained':
      return `explained ${result.explanation.why}`
    case 'submitted':
    case 'accepted':
      return `${result.kind} ${result.state} nodes ${result.nodes} edges ${result.edges}`
    case 'added':
    case 'already_added':
    case 'already_member':
      return addedText(result)
    case 'sealed':
    case 'already_sealed':
      return `${result.kind} ${result.state}`
    case 'cancelled':
    case 'already_cancelled':
      return 'policy' in result
        ? details([result.kind, result.policy, result.settled && 'settled', `live ${result.liveCount}`])
        : result.kind
    case 'read':
      return `read ${result.page.inputs.length}`
    case 'recorded':
    case 'already_recorded':
    case 'suspended':
    case 'already_suspended':
    case 'answered':
    case 'opened':
    case 'already_opened':
    case 'reissued':
    case 'delivered':
    case 'duplicate':
    case 'resumed':
    case 'steps':
    case 'signals':
    case 'waitpoints':
    case 'started':
    case 'joining':
    case 'decided':
      return journalResultText(result, since)
    case 'registered':
    case 'refreshed':
      return 'expiresAt' in result
        ? details([result.kind, `to ${since(result.expiresAt)}`, result.drain && 'drain'])
        : result.kind
    case 'workers_listed':
    case 'unswept_listed':
      return details([`listed ${result.workers.length} workers`, result.cursor !== undefined && 'more'])
    case 'leases_revoked':
      return details([`revoked ${result.executionIds.length}`, result.cursor !== undefined && 'more'])
    default:
      return result.kind
  }
}

function addedText(result: Extract<AnyResult, { kind: 'added' | 'already_added' | 'already_member' }>): string {
  return 'verdict' in result
    ? `${result.kind} edge ${result.edge} group ${result.verdict}`
    : `${result.kind} ${result.state} members ${result.memberCount}`
}

function sayingText({ said }: Saying): string {
  return said.kind === 'fault' ? `FAULT ${said.fault.reason}` : resultText(said.result as AnyResult)
}

function stateText(execution: Execution): string {
  const { state, attempt } = execution
  const parts: (string | false | undefined)[] = [state.phase]
  switch (state.phase) {
    case 'delayed':
      parts.push(`${state.cause} until ${since(state.until)}`)
      break
    case 'blocked':
      parts.push(`by ${state.by}`)
      break
    case 'active':
      parts.push(`${state.lease.id} until ${since(state.lease.expiresAt)}`)
      parts.push(state.cancel && `cancel by ${since(state.cancel.forceAt)}`)
      break
    case 'ended':
      parts.push(state.outcome, state.reason !== undefined && `(${state.reason})`)
      parts.push(execution.member?.owesEdges === true && 'owes edges')
      break
    case 'suspended':
      parts.push(suspensionText(state, since))
      break
    case 'eligible':
      break
  }
  parts.push(`epoch ${execution.epoch}`)
  parts.push(attempt && `attempt ${attempt.number} ${attempt.kind}`)
  parts.push(state.phase !== 'ended' && state.phase !== 'active' && `next ${execution.next}`)
  parts.push(execution.failureCount > 0 && `failures ${execution.failureCount}`)
  parts.push(execution.reclaimCount > 0 && `reclaims ${execution.reclaimCount}`)
  return details(parts)
}

/** Members and the flow by their names, which are shorter than their ids. */
function shortName(index: string): string {
  const [kind = '', owner = ''] = nameText(index).split('/')
  if (kind === 'members') return owner === flowId ? kind : `${kind} of another`
  return kind === 'in' || kind === 'out' ? `${kind}/${nodeName(owner as ExecutionId)}` : nameText(index)
}

function indexText(memory: Memory): string {
  const names = storedEntries(memory)
    .filter((entry) => entry.id === executionId)
    .map((entry) => shortName(entry.index) + (timedIndexes.includes(entry.index) ? ` ${since(entry.score)}` : ''))
  return names.sort().join(', ')
}

function eventText(events: readonly FabricEvent[]): string {
  return events.length === 0 ? 'none' : events.map((event) => event.type).join(', ')
}

function storedText(outcome: Outcome): string {
  if (outcome.again.stored === outcome.storedBefore) return 'unchanged'
  const execution = storedRecord(outcome.memory, 'execution', executionId)
  const flow = flowText(outcome.memory)
  if (execution === undefined) return `absent${flow}`
  return `${stateText(execution)}; in ${indexText(outcome.memory)}${journalText(execution)}${flow}`
}

/** How the flow stands that the table is about, if it is there. */
function flowText(memory: Memory): string {
  const flow = storedRecord(memory, 'flow', flowId)
  if (flow === undefined) return ''
  const counts = Object.entries(flow.counts as unknown as Record<string, number>)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${state}`)
  const walk = flow.walk === undefined ? '' : `, to ${flow.walk.purpose}`
  return `; flow ${flow.state.phase}${walk}: ${counts.join(' ')}`
}

/** The answers to the first call and to its repetition. */
export function answersText({ first, again }: Outcome): string {
  const firstText = sayingText(first)
  const againText = sayingText(again)
  return `${firstText}; again: ${againText === firstText ? 'same' : againText}`
}

/** What both calls stored and the events they emitted; undefined if they changed nothing. */
export function effectText(outcome: Outcome): string | undefined {
  const { storedBefore, first, again } = outcome
  const isUnchanged = first.stored === storedBefore && again.stored === storedBefore
  if (isUnchanged && first.events.length === 0 && again.events.length === 0) return undefined
  const repeated = again.events.length === 0 ? '' : `; again: ${eventText(again.events)}`
  return `${storedText(outcome)}; events: ${eventText(first.events)}${repeated}`
}
