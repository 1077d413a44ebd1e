import { randomInt } from 'node:crypto'
import { describe, expect, test, vi } from 'vitest'
import { Clockwork } from './clockwork.ts'
import { drawConfig, faultNames, noFaults } from './config.ts'
import { childKinds } from './child-kinds.ts'
import { flowKinds, followedFlowKinds, memberKinds } from './flow-kinds.ts'
import { kinds } from './kinds.ts'
import type { Plant } from './plant.ts'
import { describeHistory } from './report.ts'
import { simulate } from './simulation.ts'
import { Tally } from './tally.ts'

/** Worlds that every run of the suite goes through. */
const SEEDS = 100
const SEEDS_PER_TEST = 20
const LAST_SEEDS = Array.from({ length: SEEDS / SEEDS_PER_TEST }, (_, i) => (i + 1) * SEEDS_PER_TEST)

/** How long a run goes through worlds that no other has seen. `npm run simulate` runs for longer. */
const NEW_WORLDS_MS = 15_000
const NEW_SEED_MAX = 2 ** 31

/** Served, and yet no handler runs if nothing goes wrong. */
const UNRUN: readonly string[] = ['late', 'changed_mind', 'misshapen']

const tally = new Tally()

async function expectNoProblems(seed: number): Promise<void> {
  const { world, problems } = await simulate(drawConfig(seed))
  tally.add(world)
  expect(problems, `seed ${seed}: npm run simulate -- --seed ${seed}`).toEqual([])
}

describe('a fleet keeps what is promised, whatever befalls it', () => {
  test.each(LAST_SEEDS)('in the worlds up to seed %i', async (last) => {
    for (let seed = last - SEEDS_PER_TEST + 1; seed <= last; seed++) await expectNoProblems(seed)
  })

  test('in new worlds', async () => {
    const end = performance.now() + NEW_WORLDS_MS
    do {
      await expectNoProblems(randomInt(NEW_SEED_MAX))
    } while (performance.now() < end)
  })

  test('every kind of fault has happened, many times', () => {
    console.log(tally.text())
    for (const name of faultNames) expect(tally.faultCount(name), name).toBeGreaterThan(50)
  })
})

test('one seed gives the same world, step by step', async () => {
  const first = await simulate(drawConfig(7), { isRecorded: true })
  const again = await simulate(drawConfig(7), { isRecorded: true })
  const other = await simulate(drawConfig(8))

  expect(again.world.trace.lines).toEqual(first.world.trace.lines)
  expect(again.world.trace.hash).toBe(first.world.trace.hash)
  expect(other.world.trace.hash).not.toBe(first.world.trace.hash)
})

test('what is recorded does not change what happens', async () => {
  const plain = await simulate(drawConfig(9))
  const recorded = await simulate(drawConfig(9), { isRecorded: true })

  expect(recorded.world.trace.hash).toBe(plain.world.trace.hash)
})

test('without faults every kind of work ends as it should, and at once', async () => {
  const works = [...kinds, ...flowKinds, ...followedFlowKinds].map(({ name }, number) => ({ number, kind: name }))
  const { world, problems } = await simulate({ ...drawConfig(3), works, rates: noFaults, workers: 3, concurrency: 8 })

  expect(problems).toEqual([])
  expect(world.faultCounts).toEqual({})
  const begun = new Set(world.witness.bodies.map(({ task }) => task))
  const served = kinds.filter(({ isUnserved, name }) => !isUnserved && !UNRUN.includes(name))
  expect([...begun].sort()).toEqual([...served, ...memberKinds, ...childKinds].map(({ name }) => name).sort())
})

test('what a world throws is a problem of that world', async () => {
  const plant: Plant = {
    name: 'timers_throw',
    mistake: 'a timer throws',
    plant: () => {
      const spy = vi.spyOn(Clockwork.prototype, 'fire').mockImplementation(() => {
        throw new Error('The spring is broken.')
      })
      return () => spy.mockRestore()
    },
  }

  const { problems } = await simulate(drawConfig(1), { plant })

  expect(problems[0]).toMatch('the world threw Error: The spring is broken.')
})

test('an unhandled failure is a problem too', async () => {
  const plant: Plant = { name: 'no_slots', mistake: 'a worker has no slots', workerOptions: { concurrency: -1 } }

  const { problems } = await simulate(drawConfig(1), { plant })

  expect(problems[0]).toMatch('worker1.1 starting met')
})

test('a history shows what happened to an execution and around it', async () => {
  const { world } = await simulate(drawConfig(2), { isRecorded: true })
  const id = world.witness.acceptances[0]!.executionId

  const history = describeHistory(world, [`${id} is the one`])

  expect(history).toContain(`history of ${id}`)
  expect(history).toContain('event execution_created')
  expect(history).toContain('the storm is over')
})
