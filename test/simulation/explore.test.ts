import { describe, expect, test } from 'vitest'
import { deployKinds } from './deploy-kinds.ts'
import { explore } from './explore.ts'
import { flowKinds } from './flow-kinds.ts'
import { idKinds } from './id-kinds.ts'
import { kinds } from './kinds.ts'
import { plantNamed } from './plants.ts'

/** `npm run simulate -- --explore` goes deeper. */
const DEPTH = 3
/** A flow is many executions, and takes as much longer. So does work with many submits or long waits. */
const LONG_DEPTH = 2

const longKinds = [...idKinds, ...deployKinds]

const specialCalls = [
  ['replayed', 'replayExecution'],
  ['again', 'replayExecution'],
  ['changed_mind', 'cancelExecution'],
  ['interrupted', 'cancelExecution'],
  ['stubborn', 'cancelExecution'],
  ['forced', 'cancelExecution'],
] as const

describe('two workers and two executions, in every order of calls and with a death or a lost reply at each', () => {
  const brief = kinds.filter((kind) => !longKinds.includes(kind))

  test.each(brief.map(({ name }) => name))(`%s, ${DEPTH} choices deep`, async (kind) => {
    const { pathCount, isComplete, failures } = await explore(kind, { depth: DEPTH })

    expect(failures).toEqual([])
    expect(isComplete).toBe(true)
    expect(pathCount).toBeGreaterThan(10)
  })

  test.each([...longKinds, ...flowKinds].map(({ name }) => name))(`%s, ${LONG_DEPTH} choices deep`, async (kind) => {
    const { pathCount, isComplete, failures } = await explore(kind, { depth: LONG_DEPTH })

    expect(failures).toEqual([])
    expect(isComplete).toBe(true)
    expect(pathCount).toBeGreaterThan(5)
  })

  test.each(specialCalls)('%s, from the first call that names it, with a fault at its %s', async (kind, operation) => {
    const { isComplete, failures, faulted } = await explore(kind, { depth: DEPTH, from: 'special_execution' })

    expect(failures).toEqual([])
    expect(isComplete).toBe(true)
    expect([...faulted].filter((label) => label.includes(operation))).not.toEqual([])
  })
})

test('a claim that forgets what it took is found by losing each reply in turn', async () => {
  const plant = plantNamed('repeated_claim_claims_anew')

  const { failures } = await explore('plain', { depth: DEPTH }, plant)

  expect(failures[0]?.problems[0]).toMatch('a repeated claim does not hand out')
})
