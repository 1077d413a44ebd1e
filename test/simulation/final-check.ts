/** What must hold when everything has come to rest: the promises, judged from the event log and the witnesses' own record. */
import { CANCEL_BACKLOG_INDEX, SIBLING_CANCELS_INDEX, publicState } from '../../src/kernel/index.ts'
import type { Execution } from '../../src/kernel/index.ts'
import { eventFamilies } from '../../src/client/events/event-families.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type { Partition, Store, StoredEvent } from '../../src/stores/store.ts'
import { executionsOf } from '../conformance/execution-invariants.ts'
import { repairsOf } from '../properties/step-rules.ts'
import type { Fabric } from '../../src/fabric/index.ts'
import { historyProblems } from './history.ts'
import { kindNamed } from './kinds.ts'
import { isThrough, unfinishedProblems } from './through.ts'
import type { Follower } from './witness.ts'
import type { World } from './world.ts'

/** Runs the world until a condition holds; false if it never does. */
export type GoOnUntil = (isDone: () => boolean) => Promise<boolean>

/** Walks that prove a partition's indexes take no more steps than this. */
const RECONCILE_STEPS_MAX = 200
const PROBES_PER_PARTITION = 2
/** Well below the sweep of a worker: a wake-up is enough. */
const PROBE_LIMIT_MS = 500
/** How far behind the events a follower may be. */
const FOLLOW_LIMIT_MS = 5_000

export async function finalProblems(world: World, goOnUntil: GoOnUntil): Promise<string[]> {
  const unfinished = [...world.witness.complaints, ...unfinishedProblems(world)]
  if (unfinished.length > 0) return unfinished
  const fabric = world.fleet.observe()
  const problems = [
    ...(await probeProblems(world, fabric, goOnUntil)),
    ...(await countProblems(world, fabric, goOnUntil)),
    ...(await repairProblems(world)),
    ...(await followProblems(world, goOnUntil)),
    ...(await closeProblems(world, goOnUntil)),
    ...world.witness.complaints,
  ]
  if (problems.length > 0) return problems
  return await historyProblems(world)
}

/** Whatever a storm did to the workers, they are well again: new work is done at once, in every partition. */
async function probeProblems(world: World, fabric: Fabric, goOnUntil: GoOnUntil): Promise<string[]> {
  const { fleet, network, clockwork, witness } = world
  const isUp = () => fleet.actors.every(({ life }) => life !== undefined && !life.isClosing)
  const isOver = () => network.storeNow > world.calmSince + world.config.aftermathMs && isUp()
  if (!(await goOnUntil(isOver))) return ['a process that was asked to stop is not back']
  const begunAt = clockwork.elapsedMs
  const { task, name } = kindNamed('quick')
  const ids: string[] = []
  for (let number = 0; number < PROBES_PER_PARTITION * network.store.settings.executionPartitions; number++) {
    const submitting = fabric.submit(task, { name: `probe:${number}` }).then(({ id: executionId, created }) => {
      ids.push(executionId)
      if (created === 'created')
        witness.acceptances.push({ executionId, key: undefined, task: name, how: created, version: undefined })
    })
    witness.watch('a submit after the storm', submitting)
    await goOnUntil(() => ids.length > number)
  }
  const isDone = () => isThrough(world) && ids.every((id) => witness.bodies.some((body) => body.executionId === id))
  if (!(await goOnUntil(isDone))) return ['new work is not done after the storm']
  const tookMs = Math.round(clockwork.elapsedMs - begunAt)
  return tookMs <= PROBE_LIMIT_MS ? [] : [`new work waited ${tookMs} ms after the storm, and nothing was in its way`]
}

/** The counts of a lane equal its executions. */
async function countProblems(world: World, fabric: Fabric, goOnUntil: GoOnUntil): Promise<string[]> {
  let counted: string | undefined
  const counting = fabric.lanes().then((lanes) => {
    const texts = lanes.flatMap(({ lane, counts }) =>
      Object.entries(counts).map(([state, n]) => `${lane} ${state} ${n}`),
    )
    counted = texts.sort().join(', ')
  })
  world.witness.watch('a count of the lanes', counting)
  if (!(await goOnUntil(() => counted !== undefined))) return ['lanes could not be counted']
  const states = Object.groupBy(allExecutions(world), ({ lane, state }) => `${lane} ${publicState(state)}`)
  const expected = Object.entries(states)
    .map(([state, executions]) => `${state} ${executions?.length ?? 0}`)
    .sort()
    .join(', ')
  return counted === expected ? [] : [`lanes are counted as ${counted ?? ''}, but are ${expected}`]
}

/** An event reader sees each event once and in order, and all of them if it lives to the end. */
async function followProblems({ witness, network, clockwork }: World, goOnUntil: GoOnUntil): Promise<string[]> {
  const total = network.eventCount
  const isBehind = ({ events, isOver }: Follower) => events.length < total && !isOver()
  const until = clockwork.elapsedMs + FOLLOW_LIMIT_MS
  await goOnUntil(() => !witness.followers.some(isBehind) || clockwork.elapsedMs > until)
  return witness.followers.flatMap((follower) => {
    const problems = orderProblems(follower)
    return isBehind(follower) ? [...problems, `${follower.process} follows the events and has not seen all`] : problems
  })
}

function orderProblems({ process, events, gapCount }: Follower): string[] {
  const problems = gapCount === 0 ? [] : [`${process} got a gap in the events, and there is none`]
  const positions = new Map<string, number>()
  for (const event of events) {
    const { sequence } = event
    const partition = logOf(event)
    const before = positions.get(partition) ?? 0
    if (sequence !== before + 1) problems.push(`${process} saw event ${sequence} of a partition after ${before}`)
    positions.set(partition, sequence)
  }
  return problems
}

/** Names the log of an event. A flow's id names its partition after a letter; events of lanes and workers share one log. */
function logOf({ type, executionId }: StoredEvent): string {
  const isShared = [...eventFamilies.lanes, ...eventFamilies.workers].some((shared) => shared === type)
  return isShared ? 'm' : executionId.slice(0, executionId.indexOf('-')).replace('f', '')
}

/** Walks that prove something of a partition, each until it has come round. */
const proofs = ['reconcileIndexes', 'reconcileDependencies', 'auditFlows'] as const

/** Reconcilers find nothing to repair, and nothing is owed any more. */
async function repairProblems({ network }: World): Promise<string[]> {
  const { store } = network
  for (let number = 0; number < store.settings.executionPartitions; number++) {
    for (const operation of proofs) {
      const problems = await proofProblems(store, executionPartition(number), operation)
      if (problems.length > 0) return problems
    }
  }
  return network.dumps
    .flatMap(({ entries }) => entries)
    .filter(({ index }) => index === SIBLING_CANCELS_INDEX || index === CANCEL_BACKLOG_INDEX)
    .map(({ id, index }) => `${id} is left in ${index}`)
}

async function proofProblems(
  store: Store,
  partition: Partition,
  operation: (typeof proofs)[number],
): Promise<string[]> {
  let input: object = {}
  for (let step = 0; step < RECONCILE_STEPS_MAX; step++) {
    const [answer] = await store.run(partition, [{ operation, input, blobs: [] }])
    if (answer?.kind !== 'answered') return [`${operation} cannot be done`]
    const problems = repairsOf(answer)
    if (problems.length > 0) return problems
    const { cursor } = answer.result as { readonly cursor?: object | undefined }
    if (cursor === undefined) break
    input = { cursor }
  }
  return []
}

/** A process that is asked to close closes, and changes nothing that had come to rest. */
async function closeProblems(world: World, goOnUntil: GoOnUntil): Promise<string[]> {
  const { fleet } = world
  world.isEnding = true
  for (const actor of fleet.actors) fleet.close(actor)
  const isClosed = () => fleet.actors.every(({ life }) => life === undefined || life.isClosed)
  return (await goOnUntil(isClosed)) ? [] : ['a fabric that was asked to close never closed']
}

function allExecutions({ network }: World): Execution[] {
  return network.dumps.flatMap((dump) => executionsOf(dump))
}
