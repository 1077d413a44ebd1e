import { expect, test } from 'vitest'
import { virtualRuntime } from '../../../runtime/index.ts'
import { ServerClock } from './server-clock.ts'

const SERVER = 1_000_000

function given() {
  const runtime = virtualRuntime()
  return { runtime, clock: new ServerClock(runtime) }
}

test('nothing is known of a clock before the first reply', () => {
  expect(given().clock.now()).toBeUndefined()
})

test('between replies the estimate follows the monotonic clock, whatever the clock of the machine does', async () => {
  const { runtime, clock } = given()
  clock.observe(SERVER)
  runtime.jump(-3_600_000)

  await runtime.advance(250)

  expect(clock.now()).toBe(SERVER + 250)
})

test('a slow reply does not set the estimate back, a fast one improves it', async () => {
  const { runtime, clock } = given()
  clock.observe(SERVER)
  await runtime.advance(100)
  clock.observe(SERVER + 40)
  expect(clock.now()).toBe(SERVER + 100)

  clock.observe(SERVER + 103)

  expect(clock.now()).toBe(SERVER + 103)
})

test('an estimate that no reply of the last seconds confirms is forgotten', async () => {
  const { runtime, clock } = given()
  clock.observe(SERVER)
  for (let seconds = 1; seconds <= 20; seconds++) {
    await runtime.advance(1_000)
    clock.observe(SERVER + 1_000 * seconds - 5)
  }

  expect(clock.now()).toBe(SERVER + 20_000 - 5)
})

test('starting anew takes the time of the server as it is, also if it went back', () => {
  const { clock } = given()
  clock.observe(SERVER)

  clock.restart(SERVER - 500)

  expect(clock.now()).toBe(SERVER - 500)
})

test('a server whose time went back by more than a window is noticed, a slow reply is not', async () => {
  const { runtime, clock } = given()
  expect(clock.observe(SERVER)).toBe(false)
  await runtime.advance(5_000)

  expect(clock.observe(SERVER)).toBe(false)
  expect(clock.observe(SERVER - 60_000)).toBe(true)
})
