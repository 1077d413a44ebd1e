import type { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemRuntime, virtualRuntime } from '../../../runtime/index.ts'
import type { EngineError } from '../../../kernel/engine-error.ts'
import { PARTITION, run, submit } from '../../store.fixture.ts'
import { fileWorld } from '../sqlite.fixture.ts'
import type { FileWorld } from '../sqlite.fixture.ts'
import { BUSY_LIMIT_MS } from '../connection/transactions.ts'

let world: FileWorld

beforeEach(() => {
  world = fileWorld()
})

afterEach(() => world.close())

/** Another connection with an open transaction. */
function holdLock(): DatabaseSync {
  const holder = world.connect()
  holder.exec('begin immediate')
  return holder
}

/** Resolves when a timer of one millisecond has come round this often: the event loop is running. */
async function ticks(count: number): Promise<void> {
  const runtime = systemRuntime()
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => void runtime.after(1, resolve))
}

test('timers keep firing while a call waits for a lock, and the call succeeds once it is free', async () => {
  const store = await world.open()
  await submit(store)
  const holder = holdLock()
  let isAnswered = false

  const waiting = submit(store).finally(() => {
    isAnswered = true
  })
  await ticks(30)
  expect(isAnswered).toBe(false)
  holder.exec('commit')

  await waiting
  expect((await store.dump(PARTITION)).events).toHaveLength(2)
})

test('looking never waits for a writer', async () => {
  const store = await world.open()
  const executionId = await submit(store)
  holdLock().exec(`update execution set lane = 'other'`)

  expect(await run(store, 'describeExecution', { executionId })).toMatchObject({ execution: { lane: 'main' } })
  expect((await store.readEvents(PARTITION, 0, 10)).events).toHaveLength(1)
  expect((await store.dump(PARTITION)).records).toHaveLength(2)
})

test('opening a file waits for another connection that sets it up', async () => {
  const holder = world.connect()
  holder.exec('begin exclusive')

  const opening = world.open()
  await ticks(5)
  holder.exec('rollback')

  expect((await opening).settings.executionPartitions).toBe(1)
})

test('a file that stays busy for too long is refused with store_busy, and works again later', async () => {
  const runtime = virtualRuntime()
  const store = await world.open({ runtime })
  await submit(store)
  const holder = holdLock()

  const first = submit(store).catch((error: unknown) => error as EngineError)
  const second = submit(store).catch((error: unknown) => error as EngineError)
  await runtime.advance(BUSY_LIMIT_MS + 100)

  // The second waited behind the first just as long, and is not made to wait once more.
  expect(await first).toMatchObject({ code: 'store_busy', isRetryable: true })
  expect(await second).toMatchObject({ code: 'store_busy' })
  expect(String(await first)).not.toContain('database is locked')
  holder.exec('rollback')
  await submit(store)
  expect((await store.dump(PARTITION)).events).toHaveLength(2)
})
