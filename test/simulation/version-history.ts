/** The promises about versions and inputs: a program runs what it serves, and only enough refusals end an execution. */
import type { Execution } from '../../src/kernel/index.ts'
import type { StoredEvent } from '../../src/stores/store.ts'
import { REFUSAL_LIMIT } from './deploy-kinds.ts'
import { kindNamed } from './kinds.ts'
import { REFUSED } from './refusal-check.ts'
import type { Body, Witness } from './witness.ts'
import type { World } from './world.ts'

export function versionHistoryProblems(
  { witness }: World,
  executions: ReadonlyMap<string, Execution>,
  events: ReadonlyMap<string, readonly StoredEvent[]>,
): string[] {
  return [
    ...witness.bodies.flatMap(bodyProblems),
    ...versionProblems(witness, executions),
    ...[...events].flatMap(([id, told]) => refusalEndProblems(id, told)),
  ]
}

/** Whether the last event ends an execution because workers have refused its input often enough. */
export function isRefusedOut(events: readonly StoredEvent[]): boolean {
  return (
    events.findLast(({ type }) => type === 'execution_ended')?.category === REFUSED &&
    refusalCount(events) >= REFUSAL_LIMIT
  )
}

function refusalCount(events: readonly StoredEvent[]): number {
  return events.filter(({ category }) => category === REFUSED).length
}

/** A program runs no version that is later than its own, and no input that it refuses. */
function bodyProblems({ executionId, task, version = 0, program, process }: Body): string[] {
  const { earlier, task: current, shape } = kindNamed(task)
  const own = (program === 'old' ? earlier : current).version ?? 0
  const isRefused = shape === 'wrong' || (shape === 'new' && program === 'old')
  return [
    ...(version > own ? [`${process} ran version ${version} of ${executionId}, and serves ${own}`] : []),
    ...(isRefused ? [`${process} ran ${executionId} with an input that its program refuses`] : []),
  ]
}

/** An execution keeps the version that it was submitted with. */
function versionProblems({ acceptances }: Witness, executions: ReadonlyMap<string, Execution>): string[] {
  return acceptances
    .filter(({ executionId, version }) => {
      const execution = executions.get(executionId)
      return execution !== undefined && execution.version !== version
    })
    .map(({ executionId, version }) => `${executionId} was submitted with version ${version ?? 0} and has another`)
}

/** The end of an execution whose input was refused comes after all refusals that it takes. */
function refusalEndProblems(id: string, events: readonly StoredEvent[]): string[] {
  const end = events.findLast(({ type }) => type === 'execution_ended')
  const count = refusalCount(events)
  if (end?.category !== REFUSED || count >= REFUSAL_LIMIT) return []
  return [`${id} ended after ${count} refusals of ${REFUSAL_LIMIT}`]
}
