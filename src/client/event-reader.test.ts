import { expect, test } from 'vitest'
import { virtualRuntime } from '../runtime/index.ts'
import { executionPartition } from '../stores/store.ts'
import { Client } from './client.ts'
import { EventReader } from './event-reader.ts'
import { task } from './task.ts'
import { UnsteadyStore } from './unsteady-store.fixture.ts'

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

test('a log that has become shorter is told as a gap, and reading goes on at its end', async () => {
  const { store, client, reader } = await readSome(3)

  store.forget()
  await client.submit(plain, 3)

  expect(await nextOf(reader)).toEqual({ missed: 1, sequences: [] })
  await client.submit(plain, 4)
  expect(await nextOf(reader)).toEqual({ missed: 0, sequences: [2] })
})

test('a log that has become shorter and grown again is told as a gap, and nothing behind the position is passed over', async () => {
  const { store, client, reader } = await readSome(3)

  store.forget()
  for (let number = 0; number < 5; number++) await client.submit(plain, number)

  expect(await nextOf(reader)).toEqual({ missed: 1, sequences: [3, 4, 5] })
  await client.submit(plain, 6)
  expect(await nextOf(reader)).toEqual({ missed: 0, sequences: [6] })
})

test('a log that has lost everything is told as a gap', async () => {
  const { store, client, reader } = await readSome(3)

  store.forget()

  expect(await nextOf(reader)).toEqual({ missed: 1, sequences: [] })
  await client.submit(plain, 3)
  expect(await nextOf(reader)).toEqual({ missed: 0, sequences: [1] })
})
