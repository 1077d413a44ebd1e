/** Flows in any order of anything: every promise holds after each step. */
import { test } from 'vitest'
import { storeTargets } from '../conformance/targets.ts'
import { anyFlowSequence } from './flow-sequences.ts'
import { keepsItsPromises } from './promises.ts'
import { holdsForAny } from './random-runs.ts'

/** A store in the process is quick, so it is asked more often. */
const MANY_RUNS = { same: 60, newForMs: 4_000 }
const FEW_RUNS = { same: 4, newForMs: 3_000 }

const targets = storeTargets.map((target) => ({ target, amount: target.name === 'memory' ? MANY_RUNS : FEW_RUNS }))

test.each(targets)(
  'whatever is done to flows on $target.name, every promise holds after each step',
  async ({ target, amount }) => {
    await holdsForAny([anyFlowSequence], (sequence) => keepsItsPromises(target, sequence), amount)
  },
)
