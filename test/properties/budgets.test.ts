/** Reservations, settlements, reports, raises and resets in any order, beside an oracle that adds everything up anew. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { memory, storeTargets } from '../conformance/targets.ts'
import { budgetPlants } from './budget-plants.ts'
import { command, follow } from './budget-run.ts'
import { holdsForAny } from './random-runs.ts'

/** A store in the process is quick, so it is asked more often. */
const MANY_RUNS = { same: 60, newForMs: 1_500 }
const FEW_RUNS = { same: 3, newForMs: 1_000 }
const targets = storeTargets.map((target) => ({ target, amount: target.name === 'memory' ? MANY_RUNS : FEW_RUNS }))

test.each(targets)(
  'never more is reserved than there is room, and nothing is lost or counted twice, on $target.name',
  async ({ target, amount }) => {
    await holdsForAny([fc.array(command, { minLength: 1, maxLength: 40 })], (drawn) => follow(target, drawn), amount)
  },
)

/** The same for every run, so that a plant that is found once is always found. */
const sequences = fc.sample(fc.array(command, { minLength: 40, maxLength: 40 }), { seed: 20, numRuns: 60 })

test.each(budgetPlants)('$name is found: $mistake', async ({ plant }) => {
  const remove = plant()
  try {
    let isFound = false
    for (const drawn of sequences) {
      isFound = await follow(memory, drawn).then(
        () => false,
        () => true,
      )
      if (isFound) break
    }
    expect(isFound).toBe(true)
  } finally {
    remove()
  }
})
