/**
 * Runs the same tests on every store. Each test gets a store of its own, empty and with a clock that stands still; after
 * each test the whole partition is checked against what must always be true of it.
 */
import { afterEach, beforeEach, describe, expect } from 'vitest'
import { Clock } from './clock.ts'
import { TestFabric } from './fabric.ts'
import { GivenChildren } from './given-children.ts'
import { GivenFlow } from './given-flow.ts'
import { GivenJournal } from './given-journal.ts'
import { Given } from './given.ts'
import { problemsOf, sharedProblemsOf } from './invariants.ts'
import { serverTargets, storeTargets } from './targets.ts'
import type { StoreTarget } from './store-target.ts'

export interface Bench {
  readonly fabric: TestFabric
  readonly given: Given
  readonly flows: GivenFlow
  readonly journal: GivenJournal
  readonly children: GivenChildren
  readonly clock: Clock
}

let chosenTargets: readonly StoreTarget[] | undefined

/** Runs the suites that are loaded from now on with other stores. */
export function conformWith(targets: readonly StoreTarget[]): void {
  chosenTargets = targets
}

/** For tests of what servers do, and not the kernel alone. */
export function conformsOnServers(subject: string, tests: (bench: Bench) => void): void {
  conforms(subject, tests, serverTargets)
}

export function conforms(subject: string, tests: (bench: Bench) => void, targets = storeTargets): void {
  describe.each(chosenTargets ?? targets)(`${subject} on $name`, (target) => {
    const fabric = new TestFabric(target)
    const clock = new Clock(fabric)

    beforeEach(() => fabric.open())
    afterEach(async () => {
      try {
        const { firstSequence } = await fabric.store.readEvents(fabric.partition, 0, 1)
        expect(problemsOf(await fabric.dump(), firstSequence)).toEqual([])
        for (const partition of fabric.others) expect(sharedProblemsOf(await fabric.dump(partition))).toEqual([])
      } finally {
        await fabric.close()
      }
    })

    const given = new Given(fabric, clock)
    tests({
      fabric,
      given,
      flows: new GivenFlow(fabric, given),
      journal: new GivenJournal(fabric, given),
      children: new GivenChildren(fabric, given),
      clock,
    })
  })
}
