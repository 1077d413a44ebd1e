import { describe, expect, test } from 'vitest'
import { entriesOf } from '../../src/kernel/index.ts'
import type { Execution } from '../../src/kernel/index.ts'
import { storedEntries, storedRecords } from './trials/memory.ts'
import { newWalk, takeStep } from './trials/walk.ts'
import type { Walk } from './trials/walk.ts'

const SEEDS = [11, 12, 13, 14, 15, 16]
const STEPS = 500

function text(entry: { index: string; score: number; id: string }): string {
  return [entry.index, entry.score, entry.id].join(' ')
}

function executions(walk: Walk): Map<string, Execution> {
  const all = storedRecords(walk.world.memory).filter((record) => record.type === 'execution')
  return new Map(all.map((execution) => [execution.id, execution]))
}

function leaseOf(execution: Execution): string | undefined {
  return execution.state.phase === 'active'
    ? [execution.state.lease.id, execution.state.lease.acquiredAt].join(' ')
    : undefined
}

describe('a random walk through all operations', () => {
  test.each(SEEDS)('meets no impossible state, and records and indexes always agree (seed %i)', (seed) => {
    const walk = newWalk(seed)
    for (let i = 0; i < STEPS; i++) {
      const said = takeStep(walk)
      const { memory } = walk.world
      const derived = storedRecords(memory).flatMap((record) => entriesOf(record).map(text))

      expect(said, `step ${i}`).not.toContain('kind="fault"')
      expect(storedEntries(memory).map(text).sort(), `step ${i}: ${said}`).toEqual(derived.sort())
    }
  })

  test.each(SEEDS)('raises the epoch with every lease and at no other time (seed %i)', (seed) => {
    const walk = newWalk(seed)
    for (let i = 0; i < STEPS; i++) {
      const before = executions(walk)
      const said = takeStep(walk)
      for (const [id, after] of executions(walk)) {
        const earlier = before.get(id)
        if (earlier === undefined) continue
        const isNewLease = leaseOf(after) !== undefined && leaseOf(after) !== leaseOf(earlier)

        expect(after.epoch - earlier.epoch, `step ${i}: ${said}`).toBe(isNewLease ? 1 : 0)
      }
    }
  })

  test.each(SEEDS)('leaves what has ended alone, unless it is replayed or replaced (seed %i)', (seed) => {
    const walk = newWalk(seed)
    for (let i = 0; i < STEPS; i++) {
      const before = executions(walk)
      const said = takeStep(walk)
      if (said.includes('"replayed"') || said.includes('"replaced"')) continue
      for (const [id, { state }] of before) {
        if (state.phase !== 'ended') continue

        expect(executions(walk).get(id)?.state ?? state, `step ${i}: ${said}`).toEqual(state)
      }
    }
  })
})
