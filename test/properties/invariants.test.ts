import { test } from 'vitest'
import { storeTargets } from '../conformance/targets.ts'
import { anySequence } from './commands.ts'
import { keepsItsPromises } from './promises.ts'
import { holdsForAny } from './random-runs.ts'

/** A store in the process is quick, so it is asked more often. */
const MANY_RUNS = { same: 120, newForMs: 4_000 }
const FEW_RUNS = { same: 10, newForMs: 3_000 }

const targets = storeTargets.map((target) => ({ target, amount: target.name === 'memory' ? MANY_RUNS : FEW_RUNS }))

test.each(targets)(
  'whatever is done on $target.name, every promise holds after each step',
  async ({ target, amount }) => {
    await holdsForAny([anySequence], (sequence) => keepsItsPromises(target, sequence), amount)
  },
)
