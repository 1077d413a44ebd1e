/** Goes through the whole table of operations and phases with stores. It is long: each kind of store has a file of its own. */
import { describe, expect, test } from 'vitest'
import { rowText, trialName, trials } from '../table/trials/table.ts'
import type { StoreTarget } from './store-target.ts'
import { rowThrough } from './table-row.ts'

const rows = trials.map((trial) => ({
  name: trialName(trial),
  trial,
  kernelAlone: once(() => rowText(trial)),
}))

export function tableConforms(targets: readonly StoreTarget[]): void {
  describe.each(targets)('the table of operations and phases on $name', (target) => {
    test.each(rows)('$name: in every phase, and said twice, as the kernel alone', async ({ trial, kernelAlone }) => {
      expect(await rowThrough(target, trial)).toBe(kernelAlone())
    })
  })
}

/** What all stores are compared with is worked out for the first of them. */
function once(work: () => string): () => string {
  let text: string | undefined
  return () => (text ??= work())
}
