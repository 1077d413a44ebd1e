/**
 * Looks for the executions that spend idle accounts of executions, in the partitions of these, and removes the accounts that none spends.
 * Steps may be repeated: an account that is used meanwhile stays.
 */
import { ownerInKey } from '../../kernel/index.ts'
import type { AccountName, Position } from '../../kernel/index.ts'
import type { ScannedPartition } from '../runner/scanner.ts'

/** Accounts of one call that removes them. */
const RETIRED_AT_ONCE = 20

/** The progress of a walk: one partition of executions after the other. */
export interface SpenderWalk {
  readonly accounts: readonly AccountName[]
  /** The numbers of the partitions that are not examined yet. */
  readonly left: readonly number[]
  readonly position?: Position | undefined
  /** The accounts that are spent, as far as the walk has found them. */
  readonly spent: readonly string[]
}

/** A key may name a partition that the store does not have: nothing spends its account. */
export function beginWalk({ executionPartitions }: ScannedPartition, accounts: readonly AccountName[]): SpenderWalk {
  const left = [...new Set(accounts.map(partitionNumberOf))].filter((number) => number < executionPartitions)
  return { accounts, left, spent: [] }
}

/** Examines one page. Executions inherit accounts within their partition. */
export async function walkOn(
  partition: ScannedPartition,
  walk: SpenderWalk,
): Promise<{ readonly walk: SpenderWalk; readonly examined: number }> {
  const { accounts, left, position, spent } = walk
  const [number, ...others] = left
  if (number === undefined) return { walk, examined: 0 }
  const open = accounts.filter((one) => partitionNumberOf(one) === number && !spent.includes(one.id))
  const found = await partition.runAt(number, 'findSpenders', {
    accounts: open.map(({ id }) => id),
    owners: position === undefined ? open.map(({ key }) => ownerInKey(key)) : [],
    cursor: position,
  })
  const next = { accounts, spent: [...spent, ...found.spent], position: found.cursor }
  return { walk: { ...next, left: found.cursor === undefined ? others : left }, examined: found.examined }
}

/** Removes the accounts that the walk has not found. Returns their ids. */
export async function retireSome(partition: ScannedPartition, { accounts, spent }: SpenderWalk): Promise<string[]> {
  const removed: string[] = []
  const ids = accounts.map(({ id }) => id)
  for (let i = 0; i < ids.length; i += RETIRED_AT_ONCE) {
    const some = ids.slice(i, i + RETIRED_AT_ONCE)
    const input = { accounts: some, spent: spent.filter((id) => some.includes(id)) }
    removed.push(...(await partition.run('retireAccounts', input)).removed)
  }
  return removed
}

function partitionNumberOf({ key }: AccountName): number {
  return Number(key.slice(0, key.indexOf('-')))
}
