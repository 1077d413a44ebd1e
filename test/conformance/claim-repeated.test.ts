import { expect, test } from 'vitest'
import { LANE, CLASS, LEASE_TTL_MS, heldOf } from './given.ts'
import { conforms } from './harness.ts'

conforms('claimForWorker repeated after a lost reply', ({ fabric, given, clock }) => {
  test('hands out again what the first call took, with the same fences and payloads', async () => {
    await given.executions(3, (i) => ({ bytes: new Uint8Array([i]) }))
    const input = given.claimInput({ count: 2 })
    const first = await fabric.reply('claimForWorker', input)
    const before = await fabric.dump()
    clock.advance(1_000)

    const again = await fabric.reply('claimForWorker', { ...input, repeated: true })

    const byId = new Map(
      again.result.executions.map((claimed) => [
        claimed.executionId,
        { claimed, bytes: again.blobs[claimed.payloadBlob!] },
      ]),
    )
    expect(byId.size).toBe(2)
    for (const claimed of first.result.executions) {
      const repeated = byId.get(claimed.executionId)
      expect(repeated?.claimed).toEqual({
        ...claimed,
        payloadBlob: repeated?.claimed.payloadBlob,
        readyForMs: undefined,
      })
      expect(repeated?.bytes).toEqual(first.blobs[claimed.payloadBlob!])
    }
    expect(await fabric.dump()).toEqual(before)
  })

  test('claims anew when the first call never arrived', async () => {
    const submitted = await given.eligibleExecution()

    const { executions } = await given.claim({ repeated: true })

    expect(executions).toMatchObject([{ executionId: submitted.executionId, fence: { epoch: 1 } }])
  })

  test('claims anew when nothing is left of what the first call took', async () => {
    await given.executions(2)
    const input = given.claimInput()
    const first = await fabric.run('claimForWorker', input)
    await fabric.run('completeExecution', heldOf(first.executions[0]!))

    const { executions } = await fabric.run('claimForWorker', { ...input, repeated: true })

    expect(executions).toHaveLength(1)
    expect(executions[0]!.executionId).not.toBe(first.executions[0]!.executionId)
  })

  test('does not hand out again what has expired; it goes the way of any lost lease', async () => {
    await given.eligibleExecution()
    const input = given.claimInput()
    await fabric.run('claimForWorker', input)
    clock.advance(LEASE_TTL_MS)

    const { executions } = await fabric.run('claimForWorker', { ...input, repeated: true })

    expect(executions).toMatchObject([{ attemptKind: 'reclaim', fence: { epoch: 2, attempt: 2 } }])
  })

  test('does not hand out what another process holds under the same request id', async () => {
    await given.eligibleExecution()
    const input = given.claimInput({ workerInstanceId: 'worker-1' })
    await fabric.run('claimForWorker', input)

    const { executions } = await fabric.run('claimForWorker', {
      ...input,
      workerInstanceId: 'worker-2',
      repeated: true,
    })

    expect(executions).toEqual([])
  })

  test('finds what was taken in every lane that was asked for, behind hundreds of others', async () => {
    const queues = [
      { lane: 'a', class: CLASS },
      { lane: 'b', class: CLASS },
    ]
    await given.eligibleExecution({ lane: 'a' })
    await given.eligibleExecution({ lane: 'b' })
    const input = given.claimInput({ queues, count: 2 })
    const first = await fabric.run('claimForWorker', input)
    clock.advance(1)
    await given.executions(250, () => ({ lane: 'a' }))
    for (let i = 0; i < 5; i++) await given.claim({ queues, count: 50 })

    const { executions } = await fabric.run('claimForWorker', { ...input, repeated: true })

    expect(executions.map((one) => one.fence)).toEqual(first.executions.map((one) => one.fence))
  })

  test('after the next claim of a completion was lost, the repeated completion hands it out again', async () => {
    const held = await given.activeExecution()
    await given.executions(2)
    const next = given.claimInput({ queues: [{ lane: LANE, class: CLASS }], count: 2 })
    const first = await fabric.run('completeExecution', { ...held, next })
    const before = await fabric.dump()

    const again = await fabric.run('completeExecution', { ...held, next })

    expect(first).toMatchObject({ kind: 'completed', next: { executions: { length: 2 } } })
    expect(again).toMatchObject({ kind: 'already_completed', next: { executions: { length: 2 } } })
    expect(await fabric.dump()).toEqual(before)
  })
})
