import { expect, test } from 'vitest'
import { explore } from './explore.ts'

/** A file of its own, because it takes as long as many kinds of work that are explored less deeply. */
const DEPTH = 5

test(`two workers and two executions with plain work, ${DEPTH} choices deep`, async () => {
  const { pathCount, stepCount, isComplete, failures } = await explore('plain', { depth: DEPTH })

  console.log(`${pathCount} paths, ${stepCount} steps`)
  expect(failures).toEqual([])
  expect(isComplete).toBe(true)
})
