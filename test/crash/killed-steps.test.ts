import { test } from 'vitest'
import { killAtEachCall } from './kill-at-each-call.ts'
import { everyKill, steppedWork } from './killed-steps.ts'
import { everyUndoKill, undoneWork } from './killed-undos.ts'
import { Site } from './site.ts'
import { everySpendingKill, spendingWork } from './spending-work.ts'

test('a worker on a file is killed before and after each of its calls, and no recorded step is done again', async () => {
  using site = new Site()

  await killAtEachCall(steppedWork, site.location, everyKill)
})

test('a worker on a file is killed before and after each call of work that spends, and each report counts once', async () => {
  using site = new Site()

  await killAtEachCall(spendingWork, site.location, everySpendingKill)
})

test.each(['failed', 'cancelled'] as const)(
  'a worker on a file is killed before and after each call of work that is undone because it has %s, and each undo is recorded once',
  async (ending) => {
    using site = new Site()

    await killAtEachCall(undoneWork(ending), site.location, everyUndoKill[ending])
  },
)
