import { test } from 'vitest'
import { killAtEachCall, someKills } from '../crash/killed-steps.ts'
import { Target, unsteadyStores } from './targets.ts'

test('a worker on a valkey with conflicts is killed before and after calls of its steps and waits, and no recorded step is done again', async () => {
  await using target = await Target.start('valkey')

  await killAtEachCall(target.location, someKills, unsteadyStores)
})
