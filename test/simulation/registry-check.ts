/** What must hold of the partition of the store after every batch: its indexes and its log, and the rules of the registry. */
import type { OperationInput, OperationResult, Worker } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { sharedProblemsOf } from '../conformance/invariants.ts'
import type { Effect } from './network.ts'

export function registryProblems(effect: Effect): string[] {
  const { calls, before, after, now } = effect
  const registered = calls.flatMap(({ operation, input }) =>
    operation === 'registerWorker' ? [(input as OperationInput<'registerWorker'>).workerInstanceId] : [],
  )
  const known = new Map(workersOf(before).map((worker) => [worker.id, worker]))
  const problems = heartbeatProblems(effect, known, registered)
  if (after === before) return problems
  const givenUp = workersOf(after).filter(({ state, id }) => {
    const worker = known.get(id)
    return state.phase === 'lost' && worker !== undefined && isLive(worker) && expiryOf(worker) > now
  })
  return [
    ...problems,
    ...sharedProblemsOf(after),
    ...givenUp.map(({ id }) => `${TIMED} the worker ${id} was given up before its registration lapsed`),
    ...workersOf(after)
      .filter((worker) => isLive(worker) && !isLive(known.get(worker.id)) && !registered.includes(worker.id))
      .map(({ id }) => `the worker ${id} came to life without a registration`),
  ]
}

/** A heartbeat extends only the registration of its own boot, as long as that is valid, and its effect is stored. */
function heartbeatProblems(
  { calls, answers, after, now }: Effect,
  known: ReadonlyMap<string, Worker>,
  registered: readonly string[],
): string[] {
  const stored = new Map(workersOf(after).map((worker) => [worker.id, worker]))
  return calls.flatMap(({ operation, input }, i) => {
    const answer = answers[i]
    if (operation !== 'heartbeatWorker' || answer?.kind !== 'answered') return []
    const result = answer.result as OperationResult<'heartbeatWorker'>
    const { workerInstanceId: id, bootId } = input as OperationInput<'heartbeatWorker'>
    const worker = known.get(id)
    if (result.kind !== 'refreshed' || registered.includes(id)) return []
    if (!isLive(worker) || worker?.bootId !== bootId)
      return [`a heartbeat extended the worker ${id}, which has no registration`]
    if (expiryOf(worker) <= now) return [`${TIMED} a heartbeat revived the worker ${id}, which had lapsed`]
    const later = stored.get(id)
    const isLost = later !== undefined && later.heartbeatAt < now && later.bootId === bootId
    return isLost ? [`${TIMED} a heartbeat of the worker ${id} was not recorded`] : []
  })
}

/** Begins problems that compare times: they say nothing once the clock has gone back. */
export const TIMED = 'by the clock,'

function workersOf({ records }: PartitionDump): Worker[] {
  return records.filter((record) => record.type === 'worker')
}

function isLive(worker: Worker | undefined): boolean {
  return worker?.state.phase === 'running' || worker?.state.phase === 'draining'
}

function expiryOf({ heartbeatAt, ttlMs }: Worker): number {
  return heartbeatAt + ttlMs
}
