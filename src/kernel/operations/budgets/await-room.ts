/** Remembers a delayed execution that a budget has refused, so that the change that makes the room wakes it. */
import { levelsOf, putAccount, wakeKey } from '../../lifecycle/budgets/accounts.ts'
import { findShortage } from '../../lifecycle/budgets/charges.ts'
import type { Usage } from '../../lifecycle/budgets/charges.ts'
import { parkIn } from '../../lifecycle/budgets/parked.ts'
import type { Account, Budget } from '../../model/budget-schema.ts'
import { partitionNumberIn } from '../../model/budget-ids.ts'
import { gaugeId } from '../../model/indexes.ts'
import type { ExecutionId } from '../../model/records.ts'
import { refused } from '../../results.ts'
import type { Refused } from '../../results.ts'
import type { Tx } from '../../tx.ts'

export interface AwaitRoomInput extends Usage {
  /** How long the execution is delayed. */
  readonly waitMs: number
}

export type AwaitRoomResult = { readonly kind: 'room_awaited' } | Refused<'budget_not_found'>

/**
 * Called after the delay, so that a wake finds a delayed execution. If there is room since the refusal, the engine wakes it seconds later:
 * executions that refuse each other room in turn would repeat without a pause. Reserves nothing. Idempotent per lease.
 */
export function awaitRoom(tx: Tx, input: AwaitRoomInput): AwaitRoomResult {
  const { root, accounts, amounts, spender, waitMs } = input
  const { executionId, epoch } = spender
  const levels = levelsOf(tx, root, accounts)
  if (typeof levels === 'string') return refused('budget_not_found', { name: levels })
  const [first] = levels
  // A wake that names another partition than an existing one could not be delivered.
  const partition = executionId === undefined ? undefined : partitionNumberIn(executionId)
  if (executionId === undefined || partition === undefined || first === undefined) return { kind: 'room_awaited' }

  const parked = { executionId, partition, epoch, amounts, until: tx.now + waitMs }
  const shortage = findShortage(tx, levels, amounts)
  if (shortage === undefined) {
    const { budget, account } = first
    if (!isOwed(tx, budget, account, executionId, epoch)) wakeKey(tx, budget, account.key, [parked])
    return { kind: 'room_awaited' }
  }
  const { budget, account } = shortage.level
  if (parkIn(account, parked, tx.now)) putAccount(tx, budget, account)
  return { kind: 'room_awaited' }
}

function isOwed(tx: Tx, budget: Budget, { key }: Account, executionId: ExecutionId, epoch: number): boolean {
  const owed = tx.get('gauge', gaugeId(budget.id, key))?.owed ?? []
  return owed.some(({ executions = [] }) =>
    executions.some((one) => one.executionId === executionId && one.epoch === epoch),
  )
}
