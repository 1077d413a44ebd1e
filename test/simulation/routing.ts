/** Work with needs, and workers that are capable of some of them. */
import type { Network } from './network.ts'
import type { Body } from './witness.ts'

/** The name of the kind of work that has needs. */
export const ROUTED = 'routed'

export const NEEDS: readonly (readonly string[])[] = [['gpu'], ['gpu', 'region:eu'], []]

/** The first worker of a world is capable of everything, so that all work ends, every second other one of nothing. */
export function capabilitiesOf(number: number): readonly string[] {
  if (number === 0) return ['gpu', 'region:eu']
  return number % 2 === 0 ? ['gpu'] : []
}

/** A handler that runs although its worker lacks what its execution needs. */
export function routingProblems(
  { dumps }: Network,
  { task, executionId, process }: Pick<Body, 'task' | 'executionId' | 'process'>,
  worker: number,
): string[] {
  if (task !== ROUTED) return []
  const capabilities = capabilitiesOf(worker)
  const records = dumps.flatMap((dump) => dump.records)
  const execution = records.find((record) => record.type === 'execution' && record.id === executionId)
  const needs = execution?.type === 'execution' ? (execution.needs ?? []) : []
  const missing = needs.filter((need) => !capabilities.includes(need))
  return missing.length === 0 ? [] : [`${process} runs ${executionId} without ${missing.join(' and ')}`]
}
