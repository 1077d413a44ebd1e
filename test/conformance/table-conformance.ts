/** Goes through the whole table of operations and phases with stores. It is long: each kind of store has a file of its own. */
import { describe, expect, test } from 'vitest'
import { cellText, telling, trialName, trials } from '../table/trials/table.ts'
import type { Outcome } from '../table/trials/table.ts'
import type { StoreTarget } from './store-target.ts'
import { rowThrough } from './table-row.ts'

const rows = trials.map((trial) => ({
  name: trialName(trial),
  trial,
  kernelAlone: once(() => telling(trial)),
}))

export function tableConforms(targets: readonly StoreTarget[]): void {
  describe.each(targets)('the table of operations and phases on $name', (target) => {
    test.each(rows)('$name: in each phase, and when repeated, as the kernel alone', async ({ trial, kernelAlone }) => {
      const outcomes = kernelAlone()
      const situations = outcomes.map(({ situation }) => situation)

      const { steady = target } = target
      const place = trial.takesTimersFirst === true ? steady : target
      expect(await rowThrough(place, trial, situations)).toBe(outcomes.map(textOf).join('\n'))
    })
  })
}

function textOf({ trial, situation, first, again }: Outcome): string {
  return cellText(trial, situation, [first, again])
}

/** What all stores are compared with is worked out for the first of them. */
function once<T>(work: () => T): () => T {
  let result: T | undefined
  return () => (result ??= work())
}
