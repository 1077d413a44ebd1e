import { test } from 'vitest'
import { killAtEachCall } from '../crash/kill-at-each-call.ts'
import { someKills, steppedWork } from '../crash/killed-steps.ts'
import { someUndoKills, undoneWork } from '../crash/killed-undos.ts'
import { someSpendingKills, spendingWork } from '../crash/spending-work.ts'
import { Target, unsteadyStores } from './targets.ts'

test('a worker on a valkey with conflicts is killed before and after calls of its steps and waits, and no recorded step is done again', async () => {
  await using target = await Target.start('valkey')

  await killAtEachCall(steppedWork, target.location, someKills, unsteadyStores)
})

test('a worker on a valkey with conflicts is killed around a reservation and its settlement, and each report counts once', async () => {
  await using target = await Target.start('valkey')

  await killAtEachCall(spendingWork, target.location, someSpendingKills, unsteadyStores)
})

test('a worker on a valkey with conflicts is killed before and after calls of work that is undone, and each undo is recorded once', async () => {
  await using target = await Target.start('valkey')

  for (const ending of ['failed', 'cancelled'] as const) {
    await killAtEachCall(undoneWork(ending), target.location, someUndoKills(ending), unsteadyStores)
  }
})
