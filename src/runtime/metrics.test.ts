import { expect, test } from 'vitest'
import { SERIES_MAX, metricsRegistry } from './metrics.ts'
import type { Counter, Gauge, Histogram } from './metrics.ts'

const doors: Counter<'door' | 'way'> = { kind: 'counter', name: 'doors_total', help: 'Doors.', labels: ['door', 'way'] }
const people: Gauge<'room'> = { kind: 'gauge', name: 'people', help: 'People.', labels: ['room'] }
const waits: Histogram<never> = { kind: 'histogram', name: 'waits', help: 'Waits.', labels: [], buckets: [1, 5] }

test('a counter adds up for each set of labels', () => {
  const metrics = metricsRegistry()
  metrics.add(doors, { door: 'front', way: 'in' })
  metrics.add(doors, { way: 'in', door: 'front' }, 2)
  metrics.add(doors, { door: 'front', way: 'out' })

  expect(metrics.snapshot()).toEqual([
    { metric: doors, labels: { door: 'front', way: 'in' }, value: 3 },
    { metric: doors, labels: { door: 'front', way: 'out' }, value: 1 },
  ])
})

test('a gauge keeps its latest value', () => {
  const metrics = metricsRegistry()
  metrics.set(people, { room: 'hall' }, 7)
  metrics.set(people, { room: 'hall' }, 4)

  expect(metrics.snapshot()).toEqual([{ metric: people, labels: { room: 'hall' }, value: 4 }])
})

test('a histogram counts what is at most as large as each bound, and sums everything', () => {
  const metrics = metricsRegistry()
  for (const value of [0.5, 1, 3, 9]) metrics.observe(waits, {}, value)

  expect(metrics.snapshot()).toEqual([
    {
      metric: waits,
      labels: {},
      count: 4,
      sum: 13.5,
      buckets: [
        { upTo: 1, count: 2 },
        { upTo: 5, count: 3 },
      ],
    },
  ])
})

test('a snapshot does not change with what comes after it', () => {
  const metrics = metricsRegistry()
  metrics.set(people, { room: 'hall' }, 1)
  const before = metrics.snapshot()
  metrics.set(people, { room: 'hall' }, 2)

  expect(before).toEqual([{ metric: people, labels: { room: 'hall' }, value: 1 }])
})

test('labels beyond the limit of a metric are counted together', () => {
  const metrics = metricsRegistry()
  for (let i = 0; i < SERIES_MAX + 5; i++) metrics.add(doors, { door: `door ${i}`, way: 'in' })
  metrics.add(doors, { door: 'door 7', way: 'in' })

  const samples = metrics.snapshot()
  expect(samples).toHaveLength(SERIES_MAX + 1)
  expect(samples[7]).toMatchObject({ value: 2 })
  expect(samples.at(-1)).toEqual({ metric: doors, labels: { door: 'other', way: 'other' }, value: 5 })
})
