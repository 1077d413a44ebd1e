import { expect, test } from 'vitest'
import { metricsRegistry } from '../../runtime/index.ts'
import type { Counter, Histogram } from '../../runtime/index.ts'
import { metricsText } from './text.ts'

const doors: Counter<'door'> = { kind: 'counter', name: 'doors_total', help: 'Doors,\nand \\.', labels: ['door'] }
const waits: Histogram<'room'> = {
  kind: 'histogram',
  name: 'waits',
  help: 'Waits.',
  labels: ['room'],
  buckets: [0.5, 5],
}

test('the text has each metric once, and escapes labels and descriptions', () => {
  const metrics = metricsRegistry()
  metrics.add(doors, { door: 'front' })
  metrics.observe(waits, { room: 'hall' }, 0.25)
  metrics.add(doors, { door: 'a "b"\\\n' }, 2)
  metrics.observe(waits, { room: 'hall' }, 7)

  expect(metricsText(metrics.snapshot())).toBe(
    [
      '# HELP doors_total Doors,\\nand \\\\.',
      '# TYPE doors_total counter',
      'doors_total{door="front"} 1',
      'doors_total{door="a \\"b\\"\\\\\\n"} 2',
      '# HELP waits Waits.',
      '# TYPE waits histogram',
      'waits_bucket{room="hall",le="0.5"} 1',
      'waits_bucket{room="hall",le="5"} 1',
      'waits_bucket{room="hall",le="+Inf"} 2',
      'waits_sum{room="hall"} 7.25',
      'waits_count{room="hall"} 2',
      '',
    ].join('\n'),
  )
  expect(metricsText([])).toBe('')
})
