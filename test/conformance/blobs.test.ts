import { expect, test } from 'vitest'
import { PAYLOAD_BYTES } from '../../src/kernel/index.ts'
import type { ExecutionId } from '../../src/kernel/index.ts'
import { conformsOnServers } from './harness.ts'

const everyByte = Uint8Array.from({ length: 256 }, (_, i) => i)

conformsOnServers('stored bytes', ({ fabric, given }) => {
  async function payloadOf(executionId: ExecutionId): Promise<Uint8Array | undefined> {
    return (await fabric.reply('describeExecution', { executionId, payload: true })).blobs[0]
  }

  test.each([
    ['every value of a byte', everyByte],
    ['no byte at all', new Uint8Array(0)],
    ['bytes that are no text', Uint8Array.of(0xff, 0xfe, 0x00, 0xc3, 0x28, 0xed, 0xa0, 0x80)],
    ['text of any language', new TextEncoder().encode('{"a":"😀 \\u0000 ☃"}')],
  ])('%s come back as they went in, as payload and as result', async (_, bytes) => {
    const held = await given.activeExecution({ bytes })
    const result = { blob: 0, size: bytes.byteLength, encoding: 'bytes' } as const
    await fabric.run('completeExecution', { ...held, result }, [bytes])

    const reply = await fabric.reply('describeExecution', {
      executionId: held.executionId,
      payload: true,
      result: true,
    })

    expect(reply.blobs.map((blob) => [...blob])).toEqual([[...bytes], [...bytes]])
    expect(await fabric.look(held.executionId)).toMatchObject({
      payload: { size: bytes.byteLength, encoding: 'bytes' },
      result: { size: bytes.byteLength, encoding: 'bytes' },
    })
  })

  test('an empty payload is not the same as none', async () => {
    const empty = await given.eligibleExecution({ bytes: new Uint8Array(0) })
    const none = await given.eligibleExecution()

    expect((await payloadOf(empty.executionId))?.byteLength).toBe(0)
    expect(await payloadOf(none.executionId)).toBeUndefined()
  })

  test('a payload of the largest size reaches the worker whole', async () => {
    const bytes = Uint8Array.from({ length: PAYLOAD_BYTES }, (_, i) => (i * 31) % 256)
    await given.eligibleExecution({ bytes })

    const { blobs } = await fabric.reply('claimForWorker', given.claimInput())

    expect(blobs[0]!.byteLength).toBe(PAYLOAD_BYTES)
    expect(Buffer.compare(blobs[0]!, bytes)).toBe(0)
  })

  test('belong to one execution each, also when many are claimed at once', async () => {
    await given.executions(10, (i) => ({ priority: i, bytes: Uint8Array.of(i, i, i) }))

    const { result, blobs } = await fabric.reply('claimForWorker', given.claimInput({ count: 10 }))

    for (const claimed of result.executions) {
      expect([...blobs[claimed.payloadBlob!]!]).toEqual([claimed.priority, claimed.priority, claimed.priority])
    }
  })

  test('one claim distinguishes executions with and without a payload', async () => {
    await given.eligibleExecution({ priority: 3 })
    await given.eligibleExecution({ priority: 2, bytes: Uint8Array.of(2) })
    await given.eligibleExecution({ priority: 1 })

    const { result, blobs } = await fabric.reply('claimForWorker', given.claimInput({ count: 3 }))

    expect(result.executions.map((claimed) => claimed.payloadBlob)).toEqual([undefined, 0, undefined])
    expect(blobs).toHaveLength(1)
  })

  test('do not change when the caller reuses its own memory', async () => {
    const bytes = Uint8Array.of(1, 2, 3)
    const { executionId } = await given.eligibleExecution({ bytes })
    bytes.fill(9)

    expect([...(await payloadOf(executionId))!]).toEqual([1, 2, 3])
  })

  test('do not change when a reader writes into what it was given', async () => {
    const { executionId } = await given.eligibleExecution({ bytes: Uint8Array.of(1, 2, 3) })
    ;(await payloadOf(executionId))!.fill(9)

    expect([...(await payloadOf(executionId))!]).toEqual([1, 2, 3])
  })

  test('that are part of a larger memory are stored without the rest of it', async () => {
    const memory = Uint8Array.from({ length: 100 }, (_, i) => i)
    const { executionId } = await given.eligibleExecution({ bytes: memory.subarray(10, 13) })

    expect([...(await payloadOf(executionId))!]).toEqual([10, 11, 12])
  })
})
