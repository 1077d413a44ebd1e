import { expect, test } from 'vitest'
import { executionsOf } from '../conformance/execution-invariants.ts'
import { sweepCrashes } from './crash-sweep.ts'
import type { Moment } from './crash-sweep.ts'

/** Calls of a handler with five steps, a sleep and an approval, in the least turns that it takes. */
const CALLS_MIN = 14
const STEPS = ['one', 'two', 'three', 'four', 'five']

test.each<Moment>(['before', 'after'])(
  'a worker that dies %s each of its calls in turn leaves every recorded step as it is, and the result is right',
  async (moment) => {
    const labels: string[] = []
    for await (const { label, problems, world } of sweepCrashes('swept', moment)) {
      labels.push(label)
      expect(problems, `dying ${moment} call ${labels.length}: ${label}`).toEqual([])
      const { runs, answers } = world.witness.journals
      for (const step of STEPS) {
        // The work of a step is done again only if its worker died before the store knew of it.
        const ran = runs.filter((run) => run.step === step)
        expect(ran.length, `${step}, dying ${moment} ${label}`).toBeLessThanOrEqual(2)
        expect(new Set(answers.filter(({ name }) => name === step).map(({ value }) => value)).size).toBe(1)
      }
    }
    console.log(`dying ${moment}: ${labels.length} calls`)
    for (const operation of ['claimForWorker', 'recordStep', 'suspendExecution', 'completeExecution', 'readSteps']) {
      expect(
        labels.filter((label) => label.includes(operation)),
        operation,
      ).not.toEqual([])
    }
    expect(labels.length).toBeGreaterThan(CALLS_MIN)
  },
)

test.each<Moment>(['before', 'after'])(
  'a worker that dies %s each of its calls in turn starts no child twice, and the parent gets the right results',
  async (moment) => {
    for (const kind of ['calling', 'spreading', 'racing']) {
      const labels: string[] = []
      for await (const { label, problems, world } of sweepCrashes(kind, moment)) {
        labels.push(label)
        expect(problems, `${kind} dying ${moment} call ${labels.length}: ${label}`).toEqual([])
        const ends = world.network.dumps.flatMap((dump) => executionsOf(dump)).filter(({ task }) => task === kind)
        expect(ends.map(({ state }) => state)).toMatchObject([{ phase: 'ended', outcome: 'completed' }])
      }
      console.log(`${kind} dying ${moment}: ${labels.length} calls`)
      for (const operation of ['claimForWorker', 'startChildren', 'completeExecution', 'readSteps']) {
        expect(
          labels.filter((label) => label.includes(operation)),
          `${operation} of ${kind}`,
        ).not.toEqual([])
      }
    }
  },
)

/** The operations that a sweep of each kind must have met. */
const undoCalls = {
  undoing: ['registerCompensation', 'recordStep', 'failExecution', 'cancelExecution'],
  refunded: ['registerCompensation', 'recordStep', 'suspendExecution', 'readSteps', 'cancelExecution'],
} as const

test.each<Moment>(['before', 'after'])(
  'a worker that dies %s each of its calls in turn has every compensation run to its end, once, in reverse order',
  async (moment) => {
    for (const [kind, operations] of Object.entries(undoCalls)) {
      const labels: string[] = []
      for await (const { label, problems } of sweepCrashes(kind, moment)) {
        labels.push(label)
        expect(problems, `${kind} dying ${moment} call ${labels.length}: ${label}`).toEqual([])
      }
      console.log(`${kind} dying ${moment}: ${labels.length} calls`)
      for (const operation of operations) {
        expect(
          labels.filter((label) => label.includes(operation)),
          `${operation} of ${kind}`,
        ).not.toEqual([])
      }
    }
  },
)
