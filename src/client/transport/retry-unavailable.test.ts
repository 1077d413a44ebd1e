import { expect, test } from 'vitest'
import type { Call } from '../../stores/store.ts'
import { virtualRuntime } from '../../runtime/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { MemoryStore } from '../../stores/memory/memory-store.ts'
import { Client } from '../client.ts'
import { task } from '../define/task.ts'

const plain = task<number, number>('plain')

/** A client whose store applies calls and then loses its next replies. */
function createForgetful() {
  const runtime = virtualRuntime()
  const store = new MemoryStore(runtime, { executionPartitions: 1, indexedTags: [] })
  const client = new Client(store, runtime)
  const run = store.run.bind(store)
  const calls: Call[] = []
  const lost = { replies: 0 }
  store.run = async (partition, batch) => {
    calls.push(...batch)
    const answers = await run(partition, batch)
    if (lost.replies > 0) {
      lost.replies -= 1
      throw new EngineError('store_unavailable')
    }
    return answers
  }
  return { client, runtime, calls, lost }
}

test.each(['join', 'reject', 'replace'] as const)(
  'a submit with ifExists %s whose reply is lost starts its execution once',
  async (ifExists) => {
    const { client, runtime, lost } = createForgetful()
    await using _ = client
    lost.replies = 2
    const submitting = client.submit(plain, 1, { id: 'one', ifExists })
    await runtime.advance(1_000)

    expect((await submitting).created).toBe('created')
    expect((await client.list()).items).toHaveLength(1)
  },
)

test('a submit without an id and with a lost reply has started one execution', async () => {
  const { client, runtime, lost } = createForgetful()
  await using _ = client
  lost.replies = 3
  const submitting = client.submit(plain, 1)
  await runtime.advance(1_000)
  await submitting

  expect((await client.list()).items).toHaveLength(1)
})

test('a replay whose reply is lost has happened once', async () => {
  const { client, runtime, lost } = createForgetful()
  await using _ = client
  const execution = await client.submit(plain, 1)
  await execution.cancel('enough')
  lost.replies = 1
  const replaying = execution.replay()
  await runtime.advance(1_000)
  await replaying

  expect(await execution.describe()).toMatchObject({ state: 'waiting', replayCount: 1 })
})

test('calls to an unavailable store are retried with backoff for some seconds, and then rejected', async () => {
  const { client, runtime, calls, lost } = createForgetful()
  await using _ = client
  lost.replies = 1_000
  const submitting = expect(client.submit(plain, 1)).rejects.toMatchObject({ code: 'store_unavailable' })
  await runtime.advance(10_000)
  await submitting

  expect(calls.length).toBeGreaterThan(8)
  expect(calls.length).toBeLessThan(16)
  expect(runtime.nextTimerAt()).toBeUndefined()
})
