import { expect, test } from 'vitest'
import type { Claimed, LimitRef } from '../../src/kernel/index.ts'
import { BUDGET_GATE_WAIT_MAX_MS, GATE_WAIT_MAX_MS } from '../../src/kernel/limits.ts'
import { heldOf } from './given.ts'
import { conforms } from './harness.ts'

const KEY = { limit: 'company\u001ftenants', key: 'acme' }
const NEEDED: LimitRef = { ...KEY, weight: 1, instead: undefined, budget: undefined }
const HOUR_MS = 3_600_000

conforms('the gate of a budget', ({ fabric, given, clock }) => {
  const refuse = async (one: Claimed, retryAfterMs?: number): Promise<number> => {
    const blocked = await fabric.run('blockExecution', { ...heldOf(one), ...KEY, cause: 'budget', retryAfterMs })
    if (blocked.kind !== 'blocked') throw new Error(`it is ${blocked.kind}`)
    return blocked.until - clock.now()
  }
  const claimOne = async (): Promise<Claimed> => {
    const [claimed] = (await given.claim({ count: 1 })).executions
    if (claimed === undefined) throw new Error('nothing was claimed')
    return claimed
  }
  const probe = () => fabric.run('runDue', { limit: 100, seed: 1, family: 'fp' })

  test.each([1, 3])('asks ever more seldom with %i behind it, and not later than it begins anew', async (count) => {
    await given.executions(count, () => ({ limits: [NEEDED] }))
    let waitMs = await refuse(await claimOne(), HOUR_MS)
    const waits = [waitMs]
    while (waits.length < 7) {
      clock.advance(waitMs)
      await probe()
      waitMs = await refuse(await claimOne(), HOUR_MS)
      waits.push(waitMs)
    }

    expect(waits).toEqual([1, 1, 2, 4, 8, 10, 10].map((minutes) => minutes * GATE_WAIT_MAX_MS))
    expect(BUDGET_GATE_WAIT_MAX_MS).toBe(waitMs)
    clock.advance(waitMs)
    await probe()
    expect(await refuse(await claimOne(), 5)).toBe(5)
  })

  test('is opened at once by what gives the budget room, however long it would wait', async () => {
    await given.executions(3, () => ({ limits: [NEEDED] }))
    await refuse(await claimOne(), HOUR_MS)
    expect((await given.claim({ count: 5 })).executions).toEqual([])

    const opened = await fabric.run('openGates', { gates: [{ ...KEY, permits: 9, afterMs: 0 }] })

    expect(opened).toMatchObject({ released: [3] })
    expect((await given.claim({ count: 5 })).executions).toHaveLength(3)
    expect((await fabric.dump()).records.filter(({ type }) => type === 'gate')).toEqual([])
  })

  test('is opened at a later time, which a stale refusal does not put off', async () => {
    await given.executions(40, () => ({ limits: [NEEDED] }))
    const [first, second] = (await given.claim({ count: 2 })).executions
    await refuse(first!, HOUR_MS)
    await fabric.run('openGates', { gates: [{ ...KEY, permits: 9, afterMs: 0 }] })
    await refuse(second!, HOUR_MS)
    expect((await given.claim({ count: 50 })).executions).toHaveLength(1)
    const untilOf = async () => (await fabric.dump()).records.find((one) => one.type === 'gate')?.until
    clock.advance(10)

    await fabric.run('openGates', { gates: [{ ...KEY, permits: 9, afterMs: 20 }] })
    expect(await untilOf()).toBe(clock.now() + 20)
    clock.advance(20)
    await probe()
    const claimed = (await given.claim({ count: 50 })).executions
    expect(claimed).toHaveLength(9)
    await refuse(claimed[0]!, HOUR_MS)
    expect(await untilOf()).toBe(clock.now() + GATE_WAIT_MAX_MS)
    await fabric.run('openGates', { gates: [{ ...KEY, permits: 9, afterMs: BUDGET_GATE_WAIT_MAX_MS }] })
    expect(await untilOf()).toBe(clock.now() + GATE_WAIT_MAX_MS)
  })

  test('goes when nothing is behind it any more', async () => {
    await given.executions(1, () => ({ limits: [NEEDED] }))
    await refuse(await claimOne())
    clock.advance(GATE_WAIT_MAX_MS)
    await probe()
    await fabric.run('completeExecution', heldOf(await claimOne()))
    clock.advance(GATE_WAIT_MAX_MS)
    await probe()

    expect((await fabric.dump()).records.filter(({ type }) => type === 'gate')).toEqual([])
  })
})
