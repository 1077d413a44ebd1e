import { describe, expect, test } from 'vitest'
import { rowText, trialName, trials } from '../table/dialect/table.ts'
import { nodePlatform } from '../table/node-platform.ts'
import { rowThrough } from './table-row.ts'
import { storeTargets } from './targets.ts'

const rows = trials.map((trial) => ({ name: trialName(trial), trial }))

describe.each(storeTargets)('the table of operations and phases on $name', (target) => {
  test.each(rows)('$name: in every phase, and said twice, as the kernel alone', async ({ trial }) => {
    expect(await rowThrough(target, trial)).toBe(rowText(nodePlatform, trial))
  })
})
