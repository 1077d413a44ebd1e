import { expect, test } from 'vitest'
import type { ExecutionId } from '../model/records.ts'
import { turnPhase } from './turn-phase.ts'

const idIn = (partition: number) => `${partition}-00000000-0000-7000-8000-000000000000` as ExecutionId

test.each([2, 4, 8, 32])('the phases of a key in %i partitions are evenly spaced', (count) => {
  const phases = Array.from({ length: count }, (_, partition) => turnPhase('acme', idIn(partition))).sort(
    (a, b) => a - b,
  )

  phases.slice(1).forEach((phase, i) => expect(phase - phases[i]!).toBeCloseTo(1 / count, 9))
  expect(phases.every((phase) => phase >= 0 && phase < 1)).toBe(true)
})

test('the phases of many keys in one partition are spread evenly', () => {
  const tenths = Array.from({ length: 10 }, () => 0)
  for (let key = 0; key < 1_000; key++) tenths[Math.floor(turnPhase(`tenant-${key}`, idIn(3)) * 10)]! += 1

  for (const count of tenths) expect(Math.abs(count - 100)).toBeLessThan(40)
})

test('a phase depends on nothing but the key and the partition', () => {
  const other = idIn(5).replace(/0$/, '1') as ExecutionId

  expect(turnPhase('acme', other)).toBe(turnPhase('acme', idIn(5)))
  expect(turnPhase('globex', idIn(5))).not.toBe(turnPhase('acme', idIn(5)))
})
