import { test } from 'vitest'
import { killProcesses } from './killed-processes.ts'
import { Target, unsteadyStores } from './targets.ts'

const KILLS = 12

test.each([
  ['valkey with conflicts', 'valkey', unsteadyStores],
  ['cluster', 'cluster', undefined],
] as const)(
  'processes on a %s are killed at any moment, and what was acknowledged ends exactly once',
  async (what, name, ahead) => {
    await using target = await Target.start(name)
    await killProcesses(`processes on a ${what} killed`, target.location, KILLS, ahead)
  },
)
