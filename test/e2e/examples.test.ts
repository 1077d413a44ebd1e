import path from 'node:path'
import { expect, test } from 'vitest'
import { root, workplace } from './workplace.ts'

const DEMO_LIMIT_MS = 30_000

test('the demo shows each kind of life, sums up and exits with 0 in under half a minute', async () => {
  const place = await workplace()
  const startedAt = performance.now()

  const demo = await place.startNode([path.join(root, 'examples/demo.ts')]).end()

  expect(performance.now() - startedAt).toBeLessThan(DEMO_LIMIT_MS)
  expect(demo.code).toBe(0)
  expect(demo.stdout).toMatch(/report\.render +completed +1 /)
  expect(demo.stdout).toMatch(/card\.charge +completed +3 /)
  expect(demo.stdout).toMatch(/mail\.remind +completed +1 /)
  expect(demo.stdout).toMatch(/video\.encode +cancelled +1 /)
})

test('the first program ends by itself, and a second run meets what the first one did', async () => {
  const place = await workplace()
  const program = [path.join(root, 'examples/first-program.ts')]

  const first = await place.startNode(program).end()
  const second = await place.startNode(program).end()

  expect(first.code).toBe(0)
  expect(first.stdout).toMatch(/receipt: 'A-17\//)
  expect(second).toMatchObject({ code: 0, stdout: first.stdout })
})
