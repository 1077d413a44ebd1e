/** Wakes work of budgets whose wakes the due pass has found unconfirmed: their process has crashed, or could not deliver them. */
import type { DueResult } from '../../kernel/index.ts'
import type { ScannedPartition } from '../runner/scanner.ts'

/** Tries all, and throws the first error afterwards: a partition of executions that does not answer delays no wakes of others. */
export async function wakeBudgets(partition: ScannedPartition, handled: DueResult['handled']): Promise<void> {
  const ends = await Promise.allSettled(
    handled.map(async ({ case: name, executionId: id }) => {
      if (name === 'budget_waking') await partition.wakeBlocked(id)
      if (name === 'wake_delivery') await deliverOwed(partition, id)
    }),
  )
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

async function deliverOwed(partition: ScannedPartition, id: string): Promise<void> {
  const { limit, wakes } = await partition.run('readWakes', { id })
  if (limit !== undefined) await partition.deliverWakes(limit, wakes)
}
