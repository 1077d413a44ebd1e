/** PROMISES, sentence by sentence, held against the event log and against what callers and handlers saw. */
import { decodeValue } from '../../src/client/index.ts'
import { RECLAIM_CAP } from '../../src/kernel/index.ts'
import type { Execution } from '../../src/kernel/index.ts'
import type { StoredEvent } from '../../src/stores/store.ts'
import { executionsOf } from '../conformance/execution-invariants.ts'
import { isOfFlow } from '../conformance/flow-event-invariants.ts'
import { childHistoryProblems } from './child-history.ts'
import { flowHistoryProblems } from './flow-history.ts'
import { journalHistoryProblems } from './journal-history.ts'
import { flowRunProblems } from './flow-run-history.ts'
import { idHistoryProblems } from './id-history.ts'
import { SHORT_RETENTION_MS } from './kind.ts'
import { isAllowedToWait, kindNamed } from './kinds.ts'
import { isRefusedOut, versionHistoryProblems } from './version-history.ts'
import type { Body, Witness } from './witness.ts'
import type { World } from './world.ts'

interface Life {
  readonly executionId: string
  readonly execution: Execution | undefined
  readonly events: readonly StoredEvent[]
  readonly bodies: readonly Body[]
}

export async function historyProblems(world: World): Promise<string[]> {
  const { witness, network } = world
  const executions = new Map(network.dumps.flatMap((dump) => executionsOf(dump)).map((one) => [one.id as string, one]))
  const events = Map.groupBy(
    network.dumps.flatMap((dump) => dump.events),
    (event) => event.executionId as string,
  )
  const bodies = Map.groupBy(witness.bodies, (body) => body.executionId)
  const lives = [...events]
    .filter(([, [first]]) => first !== undefined && !isOfFlow(first))
    .map(([executionId, told]): Life => ({
      executionId,
      execution: executions.get(executionId),
      events: told,
      bodies: bodies.get(executionId) ?? [],
    }))
  const problems = [...acceptanceProblems(witness, executions, events), ...deedProblems(witness, events)]
  problems.push(...tagProblems(witness, executions))
  problems.push(...keyProblems([...executions.values()]))
  for (const life of lives) {
    problems.push(...endProblems(life), ...countProblems(life), ...bodyProblems(life))
    problems.push(...calmProblems(life, world.calmSince + world.config.aftermathMs))
    problems.push(...(await resultProblems(life, world)))
  }
  problems.push(...flowHistoryProblems(world), ...journalHistoryProblems(world), ...childHistoryProblems(world))
  problems.push(...idHistoryProblems(world, events), ...versionHistoryProblems(world, executions, events))
  problems.push(...flowRunProblems(world))
  for (const id of bodies.keys()) if (!events.has(id)) problems.push(`a body ran for ${id}, which was never accepted`)
  return problems
}

/** An accepted execution is never lost: it is there, or it was purged after its end. */
function acceptanceProblems(
  witness: Witness,
  executions: ReadonlyMap<string, Execution>,
  events: ReadonlyMap<string, readonly StoredEvent[]>,
): string[] {
  return witness.acceptances.flatMap(({ executionId, key, task }) => {
    const execution = executions.get(executionId)
    const told = events.get(executionId) ?? []
    if (execution === undefined) {
      return told.at(-1)?.type === 'execution_purged' ? [] : [`${executionId} (${task}) was accepted and is lost`]
    }
    return execution.key === key ? [] : [`${executionId} was accepted for ${key ?? 'no key'} and is another's`]
  })
}

/** The events of a deed that has none of its own name. */
const eventsOf: Partial<Record<string, readonly string[]>> = {
  replayed: ['execution_replayed'],
  cancel_requested: ['cancel_requested', 'execution_unwinding'],
}

/** What was acknowledged has happened. */
function deedProblems(witness: Witness, events: ReadonlyMap<string, readonly StoredEvent[]>): string[] {
  const problems: string[] = []
  for (const { executionId, what } of witness.deeds) {
    const told = events.get(executionId) ?? []
    const isTold = told.some(({ type, outcome }) =>
      what === 'cancelled' ? outcome === 'cancelled' : (eventsOf[what] ?? [what]).includes(type),
    )
    if (!isTold) problems.push(`${executionId} was reported ${what}, and its history does not show it`)
  }
  for (const { executionId, outcome, result } of witness.ends) {
    const told = events.get(executionId) ?? []
    if (!told.some((event) => event.type === 'execution_ended' && event.outcome === outcome)) {
      problems.push(`${executionId} was reported ended as ${outcome}, and its history does not show it`)
    }
    if (outcome === 'completed' && !witness.bodies.some((body) => body.answer === result)) {
      problems.push(`${executionId} was reported with the result ${String(result)}, which no body gave`)
    }
  }
  return problems
}

/** Acknowledged tags are those of the record: no other call changes them. */
function tagProblems({ deeds }: Witness, executions: ReadonlyMap<string, Execution>): string[] {
  return deeds.flatMap(({ executionId, tags = {} }) => {
    const execution = executions.get(executionId)
    const has = (name: string) => execution?.tags.find((tag) => tag.name === name)?.value
    const wrong = Object.entries(tags).filter(([name, value]) => has(name) !== value)
    return execution === undefined
      ? []
      : wrong.map(([name]) => `the tag ${name} of ${executionId} is not what it was set to`)
  })
}

/** One key, one execution. */
function keyProblems(executions: readonly Execution[]): string[] {
  const keys = Map.groupBy(
    executions.filter(({ key }) => key !== undefined),
    ({ key }) => key,
  )
  return [...keys]
    .filter(([, sharing]) => sharing.length > 1)
    .map(([key]) => `two executions have the key ${key ?? ''}`)
}

const BIRTHS: readonly string[] = ['execution_created', 'execution_replaced', 'follow_up_started']
const REBIRTHS: readonly string[] = ['execution_replayed', ...BIRTHS]

/** Ends at most once between two replays, and is never in a state that nothing will move. */
function endProblems({ executionId, execution, events }: Life): string[] {
  const problems: string[] = []
  let hasEnded = false
  for (const { type } of events) {
    if (REBIRTHS.includes(type)) hasEnded = false
    if (type !== 'execution_ended') continue
    if (hasEnded) problems.push(`${executionId} ended twice`)
    hasEnded = true
  }
  if (execution === undefined) return problems
  const { state, task, reclaimCount, member } = execution
  const kind = kindNamed(task)
  if (state.phase !== 'ended') {
    return isAllowedToWait(state, task) ? problems : [...problems, `${executionId} (${task}) is still ${state.phase}`]
  }
  if (member === undefined && execution.retentionMs <= SHORT_RETENTION_MS)
    problems.push(`${executionId} outlives its retention`)
  const isWornOut = state.reason === 'reclaims_exhausted' && reclaimCount >= RECLAIM_CAP
  if (!kind.outcomes.includes(state.outcome) && !isWornOut && !isRefusedOut(events)) {
    problems.push(`${executionId} (${task}) ended as ${state.outcome}, which it cannot: ${state.reason ?? ''}`)
  }
  return problems
}

/** How late an engine that nothing befalls may be. */
const LATE_MAX_MS = 250

/** A worker without faults keeps its leases, and delayed work continues when its time has come. */
function calmProblems({ executionId, events }: Life, since: number): string[] {
  const later = events.filter(({ at }) => at > since)
  const isKept = (epoch: number | undefined) =>
    later.some((event) => event.type === 'attempt_started' && event.epoch === epoch)
  const problems = later
    .filter((event) => event.type === 'lease_expired' && isKept(event.epoch))
    .map(({ workerId }) => `${workerId ?? ''} lost its lease of ${executionId} though nothing befell it`)
  later.forEach(({ type, at }, i) => {
    const until = later[i - 1]?.until
    if (type !== 'execution_promoted' || until === undefined || at - until <= LATE_MAX_MS) return
    problems.push(`${executionId} continued ${at - until} ms late without a fault`)
  })
  return problems
}

/** Every counter of a record equals what its history counts. */
function countProblems({ executionId, execution, events }: Life): string[] {
  if (execution === undefined) return []
  const lastBirth = events.findLastIndex(({ type }) => REBIRTHS.includes(type))
  const run = events.slice(lastBirth)
  const count = (type: string) => run.filter((event) => event.type === type).length
  const { state, failureCount, reclaimCount, replayCount, retry } = execution
  const last = run.at(-1)
  const isLastFailed = state.phase === 'ended' && isFailure(run.findLast(({ type }) => type === 'execution_ended'))
  const failures = count('attempt_failed') + (isLastFailed ? 1 : 0)
  const reclaims = count('lease_expired') + count('lease_revoked')
  const replays = events
    .slice(events.findLastIndex(({ type }) => BIRTHS.includes(type)))
    .filter(({ type }) => type === 'execution_replayed').length
  const problems: string[] = []
  if (failureCount !== failures) problems.push(`${executionId} counts ${failureCount} failures, but had ${failures}`)
  if (reclaimCount !== reclaims) problems.push(`${executionId} counts ${reclaimCount} lost leases, but had ${reclaims}`)
  if (replayCount !== replays) problems.push(`${executionId} counts ${replayCount} replays, but had ${replays}`)
  if (last?.outcome === 'failed' && last.category === 'error' && failures < retry.attempts) {
    problems.push(`${executionId} gave up after ${failures} failures of ${retry.attempts}`)
  }
  return problems
}

/** Ends that are failures of an attempt: those that a handler reported, and the last timeout. */
function isFailure(end: StoredEvent | undefined): boolean {
  if (end?.outcome === 'failed') return end.reason !== 'reclaims_exhausted'
  return end?.outcome === 'expired' && end.reason === 'attempt_timeout'
}

/** A body runs only for an attempt that was given out to its worker, always with the same idempotency key. */
function bodyProblems({ executionId, events, bodies }: Life): string[] {
  const problems: string[] = []
  const starts = events.filter(({ type }) => type === 'attempt_started')
  for (const { attempt, workerInstanceId, process, progress } of bodies) {
    const start = starts.some((event) => event.attempt === attempt && event.workerInstanceId === workerInstanceId)
    if (!start) problems.push(`${process} ran attempt ${attempt} of ${executionId}, which it was never given`)
    for (const percent of progress) {
      const isTold = events.some(
        (event) => event.type === 'progress_updated' && event.attempt === attempt && event.percent === percent,
      )
      if (!isTold) problems.push(`progress of ${executionId} was taken, and its history does not show it`)
    }
  }
  const births = events.filter(({ type }) => BIRTHS.includes(type)).length
  const keys = new Set(bodies.map(({ idempotencyKey }) => idempotencyKey))
  if (keys.size > births) problems.push(`bodies of ${executionId} were given ${keys.size} idempotency keys`)
  return problems
}

/** What completed has the result of the very body that the store took it from. */
async function resultProblems({ executionId, execution, events, bodies }: Life, { network }: World): Promise<string[]> {
  if (execution?.state.phase !== 'ended' || execution.state.outcome !== 'completed') return []
  const end = events.findLast(({ type }) => type === 'execution_ended')
  const number = Number(executionId.slice(0, executionId.indexOf('-')))
  const input = { executionId: execution.id, result: true }
  const [answer] = await network.store.run(`fp:${number}`, [{ operation: 'describeExecution', input, blobs: [] }])
  if (answer?.kind !== 'answered' || answer.result.kind !== 'described') return [`${executionId} cannot be described`]
  const result = decodeValue(execution.result, answer.blobs[0])
  const isGiven = bodies.some(
    (body) => body.answer === result && body.attempt === end?.attempt && body.workerInstanceId === end.workerInstanceId,
  )
  return isGiven ? [] : [`${executionId} has the result ${String(result)}, which its last attempt did not give`]
}
