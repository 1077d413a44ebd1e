/** The promises about children, held against what the store has and what handlers saw. */
import type { Execution } from '../../src/kernel/index.ts'
import type { StoredEvent } from '../../src/stores/store.ts'
import { executionsOf } from '../conformance/execution-invariants.ts'
import type { World } from './world.ts'

export function childHistoryProblems(world: World): string[] {
  const executions = world.network.dumps.flatMap((dump) => executionsOf(dump))
  const events = world.network.dumps.flatMap((dump) => dump.events)
  return [...startProblems(executions, events), ...orphanProblems(executions), ...resultProblems(world, executions)]
}

/** A parent that is not retried has one child of each name. */
function startProblems(executions: readonly Execution[], events: readonly StoredEvent[]): string[] {
  const retried = new Set<string>(
    events.filter(({ type }) => RESTARTS.includes(type)).map((event) => event.executionId),
  )
  const children = Map.groupBy(
    executions.filter(({ parent }) => parent !== undefined),
    ({ parent }) => JSON.stringify([parent?.executionId, parent?.name]),
  )
  return [...children].flatMap(([key, found]) => {
    const [parentId = '', name = ''] = JSON.parse(key) as string[]
    return found.length === 1 || retried.has(parentId)
      ? []
      : [`the child ${name} of ${parentId} was started ${found.length} times`]
  })
}

const RESTARTS: readonly string[] = ['attempt_failed', 'execution_replayed', 'execution_replaced']

/** No child outlives a parent that was cancelled, unless it has ended by itself. */
function orphanProblems(executions: readonly Execution[]): string[] {
  const stopped = new Set<string>(
    executions.filter(({ state }) => state.phase === 'ended' && state.outcome === 'cancelled').map(({ id }) => id),
  )
  return executions
    .filter(({ parent, state }) => stopped.has(parent?.executionId ?? '') && state.phase !== 'ended')
    .map(({ id, parent }) => `${id} runs on, although its parent ${parent?.executionId ?? ''} was cancelled`)
}

/** What a call was answered with is what the handler of the child gave. */
function resultProblems({ witness }: World, executions: readonly Execution[]): string[] {
  const ids = new Map<string, string>(
    executions.map(({ id, parent }) => [JSON.stringify([parent?.executionId, parent?.name]), id]),
  )
  return witness.journals.answers
    .filter(({ kind }) => kind === 'child')
    .filter(({ executionId, name, value }) => {
      const id = ids.get(JSON.stringify([executionId, name]))
      return id !== undefined && !witness.bodies.some((body) => body.executionId === id && body.answer === value)
    })
    .map(({ executionId, name }) => `the child ${name} of ${executionId} was answered with what it did not give`)
}
