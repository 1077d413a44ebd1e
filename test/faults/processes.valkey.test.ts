import { test } from 'vitest'
import { killProcesses } from './killed-processes.ts'
import { Target } from './targets.ts'
import type { TargetName } from './targets.ts'

const KILLS = 12

test.each<TargetName>(['valkey', 'cluster'])(
  'processes on a %s are killed at any moment, and what was acknowledged ends exactly once',
  async (name) => {
    using target = await Target.open(name, 'processes')
    await killProcesses(`processes on a ${name} killed`, target.location, KILLS)
  },
)
