/** Steps, waits and signals in any order of anything: every promise holds after each step. */
import fc from 'fast-check'
import { test } from 'vitest'
import { storeTargets } from '../conformance/targets.ts'
import { anyJournalSequence } from './journal-sequences.ts'
import { keepsItsPromises } from './promises.ts'
import { runs } from './random-runs.ts'

/** A store in the process is quick, so it is asked more often. */
const MANY_RUNS = 400
const FEW_RUNS = 20

const targets = storeTargets.map((target) => ({ target, numRuns: target.name === 'memory' ? MANY_RUNS : FEW_RUNS }))

test.each(targets)(
  'whatever is remembered and waited for on $target.name, every promise holds after each step',
  async ({ target, numRuns }) => {
    await fc.assert(
      fc.asyncProperty(anyJournalSequence, (sequence) => keepsItsPromises(target, sequence)),
      runs(numRuns),
    )
  },
)
