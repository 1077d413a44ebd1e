import { expect, test, vi } from 'vitest'
import { virtualRuntime } from '../../runtime/index.ts'
import { EVENT_SWEEP_MS, executionPartition } from '../../stores/store.ts'
import type { LogGrowth } from '../../stores/store.ts'
import { Client } from '../client.ts'
import { EventReader } from './event-reader.ts'
import { task } from '../define/task.ts'
import { UnsteadyStore } from '../transport/unsteady-store.fixture.ts'

const plain = task<number, number>('plain')
const never = new AbortController().signal

/** A store with some events, and a reader that has read them. */
async function readSome(count: number) {
  const runtime = virtualRuntime()
  const store = new UnsteadyStore(runtime)
  const client = new Client(store, runtime)
  const reader = new EventReader(store, runtime, executionPartition(0), 0)
  for (let number = 0; number < count; number++) await client.submit(plain, number)
  const page = await reader.next(never)
  expect(page?.events).toHaveLength(count)
  reader.advance(page!)
  return { store, client, reader }
}

/** What the next look brings: how many events before it are missing, and which there are. */
async function nextOf(reader: EventReader): Promise<{ missed: number; sequences: number[] }> {
  const page = await reader.next(never)
  const missed = page!.firstSequence - 1 - reader.position
  reader.advance(page!)
  return { missed: Math.max(0, missed), sequences: page!.events.map(({ sequence }) => sequence) }
}

test('a reader sees each event once', async () => {
  const { client, reader } = await readSome(3)

  await client.submit(plain, 3)

  expect(await nextOf(reader)).toEqual({ missed: 0, sequences: [4] })
  await client.submit(plain, 4)
  expect(await nextOf(reader)).toEqual({ missed: 0, sequences: [5] })
})

test('a truncated log is reported as a gap, and reading continues at its end', async () => {
  const { store, client, reader } = await readSome(3)

  store.forget()
  await client.submit(plain, 3)

  expect(await nextOf(reader)).toEqual({ missed: 1, sequences: [] })
  await client.submit(plain, 4)
  expect(await nextOf(reader)).toEqual({ missed: 0, sequences: [2] })
})

test('a log that was truncated and has grown again is reported as a gap, and no event after the position is skipped', async () => {
  const { store, client, reader } = await readSome(3)

  store.forget()
  for (let number = 0; number < 5; number++) await client.submit(plain, number)

  expect(await nextOf(reader)).toEqual({ missed: 1, sequences: [3, 4, 5] })
  await client.submit(plain, 6)
  expect(await nextOf(reader)).toEqual({ missed: 0, sequences: [6] })
})

test('a log that lost all events is reported as a gap', async () => {
  const { store, client, reader } = await readSome(3)

  store.forget()

  expect(await nextOf(reader)).toEqual({ missed: 1, sequences: [] })
  await client.submit(plain, 3)
  expect(await nextOf(reader)).toEqual({ missed: 0, sequences: [1] })
})

/** A store that counts the reads of its log, and a reader to which every write is announced. */
async function readTold(isHeard: (growth: LogGrowth) => boolean = () => true) {
  const runtime = virtualRuntime()
  const store = new UnsteadyStore(runtime)
  const client = new Client(store, runtime)
  const readEvents = vi.spyOn(store, 'readEvents')
  const growths: LogGrowth[] = []
  const reader: EventReader = new EventReader(store, runtime, executionPartition(0), 0, {
    isToBeRead: ({ growth }) => {
      if (growth === undefined) return true
      growths.push(growth)
      return isHeard(growth) && !reader.skip(growth)
    },
  })
  const abort = new AbortController()
  const page = reader.next(abort.signal)
  await runtime.advance(0)
  readEvents.mockClear()
  return { store, client, runtime, reader, readEvents, growths, page, abort }
}

test('announced events are neither read nor polled for', async () => {
  const { client, runtime, reader, readEvents, page, abort } = await readTold()

  for (let number = 0; number < 3; number++) await client.submit(plain, number)
  await runtime.advance(0)

  expect(reader.position).toBe(3)
  expect(readEvents).not.toHaveBeenCalled()
  abort.abort()
  expect(await page).toBeUndefined()
})

test('events announced out of order are passed once the gap before them is filled', async () => {
  const { client, reader, growths } = await readTold(() => false)
  for (let number = 0; number < 3; number++) await client.submit(plain, number)
  const [first, second, third] = growths

  reader.skip(third!)
  reader.skip(second!)
  expect(reader.position).toBe(0)
  reader.skip(first!)

  expect(reader.position).toBe(3)
})

test('events that were not announced are found by the next read', async () => {
  const { client, runtime, reader, page } = await readTold(({ first }) => first !== 2)

  for (let number = 0; number < 3; number++) await client.submit(plain, number)
  await runtime.advance(EVENT_SWEEP_MS)

  expect((await page)?.events.map(({ sequence }) => sequence)).toEqual([2, 3])
  reader.advance((await page)!)
  await client.submit(plain, 3)
  expect(reader.position).toBe(4)
})

test('an announced log that was lost and has grown again is reported as a gap', async () => {
  const { store, client, runtime, page } = await readTold()
  for (let number = 0; number < 3; number++) await client.submit(plain, number)

  store.forget()
  await runtime.advance(1)
  for (let number = 0; number < 5; number++) await client.submit(plain, number)
  await runtime.advance(EVENT_SWEEP_MS)

  // Nothing was read, so the first announced event is the last known one.
  expect(await page).toMatchObject({ firstSequence: 1 })
})

test('a lost log that has grown past the position unannounced is reported as a gap, although its next write was announced', async () => {
  const { store, client, runtime, reader, page } = await readTold()
  for (let number = 0; number < 3; number++) await client.submit(plain, number)
  await runtime.advance(EVENT_SWEEP_MS)
  await client.submit(plain, 3)
  expect(reader.position).toBe(4)

  store.forget()
  await runtime.advance(1)
  for (let number = 0; number < 5; number++) await client.submit(plain, number)
  reader.skip({ first: 5, last: 5, at: runtime.now(), ended: [] })
  expect(reader.position).toBe(5)
  await runtime.advance(EVENT_SWEEP_MS)

  expect(await page).toMatchObject({ firstSequence: 3 })
  expect((await page)?.events.map(({ sequence }) => sequence)).toEqual([3, 4, 5])
})
