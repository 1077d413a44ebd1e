/** Bytes of every size, in and out of the tables. */
import { randomFillSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { CLAIM_PAYLOAD_BYTES, PAYLOAD_BYTES } from '../../src/kernel/index.ts'
import type { CreateInput } from '../../src/kernel/index.ts'
import { SMALL_PAYLOAD_BYTES } from '../../src/stores/postgres/load/load-range.ts'
import { PARTITION, call, claim, creation, kindsOf, run } from '../../src/stores/store.fixture.ts'
import type { Answer, Call, Store } from '../../src/stores/store.ts'
import { versions } from './places.ts'
import { newStore } from './store-place.ts'

function anyBytes(size: number): Uint8Array {
  return randomFillSync(new Uint8Array(size))
}

function creating(bytes: Uint8Array, wish: Partial<CreateInput> = {}): Call {
  const payload = { blob: 0, size: bytes.byteLength, encoding: 'bytes' as const }
  return call('createExecution', creation({ payload, ...wish }), bytes)
}

function blobsOf(answer: Answer | undefined): readonly Uint8Array[] {
  return answer?.kind === 'answered' ? answer.blobs : []
}

async function claimed(store: Store): Promise<readonly Uint8Array[]> {
  const [answer] = await store.run(PARTITION, [call('claimForWorker', claim())])
  return blobsOf(answer)
}

describe.each(versions)('a payload on %s', (version) => {
  test('is claimed whole, whether it is loaded with its execution or only when it is wanted', async () => {
    const { store } = await newStore(version)
    const sizes = [0, 1, SMALL_PAYLOAD_BYTES - 1, SMALL_PAYLOAD_BYTES, SMALL_PAYLOAD_BYTES + 1, 100_000]
    const payloads = sizes.map(anyBytes)

    expect(
      kindsOf(
        await store.run(
          PARTITION,
          payloads.map((bytes) => creating(bytes)),
        ),
      ),
    ).toEqual(sizes.map(() => 'created'))

    expect(await claimed(store)).toEqual(payloads)
  })

  test('of the largest size comes alone, and the next with the next claim', async () => {
    const { store } = await newStore(version)
    const payloads = [anyBytes(PAYLOAD_BYTES), anyBytes(CLAIM_PAYLOAD_BYTES)]
    for (const bytes of payloads) await store.run(PARTITION, [creating(bytes)])

    for (const bytes of payloads) {
      const [found, ...others] = await claimed(store)
      expect(others).toEqual([])
      expect(Buffer.from(found!).equals(bytes)).toBe(true)
    }
  })

  test('and a result of the largest size are read together', async () => {
    const { store } = await newStore(version)
    const bytes = anyBytes(PAYLOAD_BYTES)
    await store.run(PARTITION, [creating(bytes)])
    const { executions } = await run(store, 'claimForWorker', claim())
    const result = { blob: 0, size: bytes.byteLength, encoding: 'bytes' as const }
    await run(store, 'completeExecution', { ...executions[0]!, result }, bytes)
    const { executionId } = executions[0]!

    const [answer] = await store.run(PARTITION, [
      call('describeExecution', { executionId, payload: true, result: true }),
    ])

    const blobs = blobsOf(answer)
    expect(blobs).toHaveLength(2)
    for (const blob of blobs) expect(Buffer.from(blob).equals(bytes)).toBe(true)
  })

  test('of an execution that is replaced gives way to the new one', async () => {
    const { store, query } = await newStore(version)
    const { executionId } = creation()
    await store.run(PARTITION, [creating(anyBytes(100_000), { executionId })])
    await run(store, 'cancelExecution', { executionId, reason: 'no', by: 'me', force: true, graceMs: 0 })

    const answers = await store.run(PARTITION, [
      creating(anyBytes(10), { executionId, requestId: 'another', ifExists: 'replace' }),
    ])

    expect(kindsOf(answers)).toEqual(['replaced'])
    expect(await query('select octet_length(bytes) as size from blob')).toEqual([{ size: 10 }])
  })
})
