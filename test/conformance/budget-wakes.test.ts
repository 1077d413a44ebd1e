/** Wakes of budgets: owed from the step that makes room until a process confirms that it has delivered them. */
import { expect, test } from 'vitest'
import { WAKE_DELIVERY_MS } from '../../src/kernel/limits.ts'
import { budgetId } from '../../src/kernel/model/budget-ids.ts'
import { gaugeId } from '../../src/kernel/model/indexes.ts'
import { GivenBudgets, ROOT, TENANT } from './given-budgets.ts'
import { conforms } from './harness.ts'

const LIMIT = budgetId(ROOT, TENANT)
const GAUGE = gaugeId(LIMIT, 'acme')
const RAISE = { root: ROOT, name: TENANT, key: 'acme', amounts: [{ dimension: 'tokens', value: 5 }] }

conforms('confirmWakes', ({ fabric, clock }) => {
  const budgets = new GivenBudgets(fabric)
  const asks = (waitingIn: number) =>
    budgets.run('takePermits', {
      requestId: fabric.runtime.uuid(),
      workerInstanceId: 'w',
      ttlMs: 1,
      requests: [{ limit: LIMIT, key: 'acme', weight: 1, needed: 1, spare: 0, waitingIn }],
    })
  const raise = async (requestId: string) => {
    const raised = await budgets.run('raiseBudget', { ...RAISE, requestId })
    return raised.kind === 'refused' ? [] : raised.wakes
  }
  const owed = async () => (await budgets.run('readWakes', { id: GAUGE })).wakes.map(({ partition }) => partition)
  const cases = async () => (await budgets.duePass()).handled.map((one) => one.case)

  test('a wake is owed until it is confirmed, and the due pass asks for its delivery again and again', async () => {
    await budgets.tree({ hard: { tokens: 10 } })
    await budgets.spend({ tokens: 10 })
    for (const partition of [0, 2]) await asks(partition)
    const wakes = await raise('a')
    expect(wakes.map(({ partition }) => partition)).toEqual([0, 2])
    expect(await cases()).not.toContain('wake_delivery')
    for (let i = 0; i < 2; i++) {
      clock.advance(WAKE_DELIVERY_MS)
      expect(await cases()).toContain('wake_delivery')
      expect(await owed()).toEqual([0, 2])
    }

    const keys = wakes.map(({ key, at = 0 }) => ({ key, at }))
    for (let i = 0; i < 2; i++) await budgets.run('confirmWakes', { limit: LIMIT, keys })
    expect(await owed()).toEqual([])
    clock.advance(WAKE_DELIVERY_MS)
    expect(await cases()).not.toContain('wake_delivery')
  })

  test('a confirmation leaves wakes that were decided after it', async () => {
    await budgets.tree({ hard: { tokens: 10 } })
    await budgets.spend({ tokens: 10 })
    await asks(1)
    const [first] = await raise('a')
    await budgets.spend({ tokens: 5 })
    for (const partition of [1, 3]) await asks(partition)
    await raise('b')

    await budgets.run('confirmWakes', { limit: LIMIT, keys: [{ key: 'acme', at: first?.at ?? 0 }] })
    expect(await owed()).toEqual([1, 3])
  })

  test('a change of the definition is due until all of its work is woken', async () => {
    await budgets.tree({ hard: { tokens: 10 } })
    await budgets.spend({ tokens: 10 })
    await asks(1)
    await budgets.define(TENANT, { parent: ROOT, hard: { tokens: 20 } })
    clock.advance(WAKE_DELIVERY_MS)
    expect(await cases()).toContain('budget_waking')

    const { wakes, wakeAt } = await budgets.run('wakeWaiting', { name: LIMIT })
    expect(wakes).toMatchObject([{ key: 'acme', partition: 1 }])
    await budgets.run('confirmWakes', { limit: LIMIT, keys: [], wakeAt: 1 })
    clock.advance(WAKE_DELIVERY_MS)
    expect(await cases()).toContain('budget_waking')
    const again = await budgets.run('wakeWaiting', { name: LIMIT })
    expect(again.wakeAt).toBeGreaterThan(wakeAt ?? Infinity)
    await budgets.run('confirmWakes', { limit: LIMIT, keys: [], wakeAt: again.wakeAt })
    clock.advance(WAKE_DELIVERY_MS)
    expect(await cases()).not.toContain('budget_waking')
  })
})
