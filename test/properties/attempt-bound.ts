/** Every attempt after the first has its reason: one before it failed, was lost, or the execution was replayed or followed. */
import type { PartitionDump } from '../../src/stores/store.ts'
import { executionsOf } from '../conformance/execution-invariants.ts'

const REASONS: readonly string[] = [
  'attempt_failed',
  'lease_expired',
  'lease_revoked',
  'execution_replayed',
  'follow_up_started',
]
const BEGINNINGS: readonly string[] = ['execution_created', 'execution_replaced']

export function attemptBoundProblems(dump: PartitionDump): string[] {
  return executionsOf(dump).flatMap(({ id, attempt }) => {
    const events = dump.events.filter((event) => event.executionId === id)
    const beginning = events.findLastIndex((event) => BEGINNINGS.includes(event.type))
    const reasons = events.slice(beginning).filter((event) => REASONS.includes(event.type)).length
    const minted = attempt?.number ?? 0
    return minted <= 1 + reasons ? [] : [`${id} is at attempt ${minted}, for ${reasons} reasons`]
  })
}
