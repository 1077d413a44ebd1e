import { test } from 'vitest'
import { killAtEachCall, someKills } from '../crash/killed-steps.ts'
import { Target } from './targets.ts'

test('a worker on a valkey is killed before and after calls of its steps and waits, and no recorded step is done again', async () => {
  using target = await Target.open('valkey', 'killed-steps')

  await killAtEachCall(target.location, someKills)
})
