import { test } from 'vitest'
import { killProcesses } from './killed-processes.ts'
import { Target } from './targets.ts'
import type { TargetName } from './targets.ts'

const KILLS = 12

test.each<TargetName>(['valkey', 'cluster'])(
  'processes on a %s are killed at any moment, and what was acknowledged ends exactly once',
  async (name) => {
    await using target = await Target.start(name)
    await killProcesses(`processes on a ${name} killed`, target.location, KILLS)
  },
)
