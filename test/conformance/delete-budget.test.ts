import { expect, test } from 'vitest'
import { ACCOUNT_IDLE_MS, CHARGE_RETENTION_MS } from '../../src/kernel/limits.ts'
import type { BudgetCursor } from '../../src/kernel/index.ts'
import { budgetId } from '../../src/kernel/model/budget-ids.ts'
import { GivenBudgets, ROOT, TENANT } from './given-budgets.ts'
import { GivenLimits } from './given-limits.ts'
import { conforms } from './harness.ts'

const DAY_MS = 86_400_000
const PERIOD = { every: 'day', cron: '0 0 * * *', timeZone: 'UTC' }

/** Walks over all accounts, as the scanner does. */
async function reconcile(budgets: GivenBudgets): Promise<number> {
  let repaired = 0
  let cursor: BudgetCursor | undefined
  do {
    const page = await budgets.run('reconcileBudgets', { cursor })
    repaired += page.repaired.length
    cursor = page.cursor
  } while (cursor !== undefined)
  return repaired
}

async function typesOf(budgets: GivenBudgets): Promise<string[]> {
  return (await budgets.dump()).records.map(({ type }) => type).filter((type) => type !== 'charge')
}

conforms('deleteBudget', ({ fabric, clock }) => {
  const budgets = new GivenBudgets(fabric)

  test('a deleted budget bounds and counts nothing, and the others of a call still do', async () => {
    await budgets.tree({ hard: { tokens: 10 } }, { hard: { tokens: 100 } })
    await budgets.reserve({ tokens: 10 }, { key: 'a' })
    const name = { root: ROOT, name: TENANT }

    expect(await budgets.run('deleteBudget', { root: ROOT, name: ROOT })).toMatchObject({
      code: 'budget_has_children',
      detail: { name: TENANT },
    })
    expect(await budgets.run('deleteBudget', { ...name, by: 'ada' })).toEqual({ kind: 'budget_deleted' })
    expect(await budgets.run('deleteBudget', name)).toEqual({ kind: 'budget_already_deleted' })
    expect(await budgets.reserve({ tokens: 80 }, { key: 'b' })).toMatchObject({ kind: 'budget_reserved' })
    expect(await budgets.reserve({ tokens: 20 }, { key: 'c' })).toMatchObject({ overrun: { name: ROOT, asked: 20 } })
    expect(await budgets.settle('a', { tokens: 12 })).toMatchObject({ kind: 'reservation_settled', hard: [] })
    expect(await budgets.sums(ROOT)).toEqual({ spent: { tokens: 12 }, reserved: { tokens: 80 } })
    for (const operation of ['describeBudget', 'freezeBudget', 'resetBudget'] as const) {
      const input = { ...name, key: 'acme', limit: 1, isFrozen: true, requestId: 'r' }
      expect(await budgets.run(operation, input)).toMatchObject({ code: 'budget_not_found' })
    }
    expect((await budgets.run('listBudgets', { limit: 9 })).budgets.map((one) => one.name)).toEqual([ROOT])
    expect(await budgets.run('deleteBudget', { root: ROOT, name: ROOT })).toEqual({ kind: 'budget_deleted' })
  })

  test('is noted with who did it, and ends the freeze and the boundaries', async () => {
    const boundaries = [clock.now() + DAY_MS]
    await budgets.tree({ period: PERIOD, boundaries, by: 'bob' })
    const name = { root: ROOT, name: TENANT }
    await budgets.run('freezeBudget', { ...name, isFrozen: true })
    clock.advance(5)
    expect(await budgets.run('deleteBudget', { root: ROOT, name: 'none' })).toMatchObject({
      code: 'budget_not_found',
      detail: { name: 'none' },
    })

    await budgets.run('deleteBudget', { ...name, by: 'ada', reason: 'unused' })

    const { records, events } = await budgets.dump()
    const deleted = records.find((one) => one.type === 'budget' && one.name === TENANT && one.root === ROOT)
    const at = clock.now()
    expect(deleted).toMatchObject({
      ...{ deletedAt: at, changedAt: at, changedBy: 'ada', changeReason: 'unused', version: 2 },
      ...{ freeze: undefined, boundaries: [], planAt: undefined },
    })
    expect(events.at(-1)).toMatchObject({
      type: 'budget_changed',
      ...{ executionId: TENANT, task: '', effect: 'deleted', by: 'ada', reason: 'unused' },
    })
  })

  test('a budget of another tree does not keep it', async () => {
    await budgets.define(ROOT, {})
    const other = { root: 'department', hard: [], soft: [], onBreach: 'warn', boundaries: [] } as const
    await budgets.run('defineBudget', { ...other, name: 'department' })
    await budgets.run('defineBudget', { ...other, name: ROOT, parent: 'department' })
    await budgets.run('defineBudget', { ...other, name: 'team', parent: ROOT })

    expect(await budgets.run('deleteBudget', { root: ROOT, name: ROOT })).toEqual({ kind: 'budget_deleted' })
  })

  test('its accounts go, its ledger by age, and one that takes its place begins with nothing', async () => {
    await budgets.tree({ hard: { tokens: 10 } })
    await budgets.spend({ tokens: 8 }, { key: 'a' })
    await budgets.reserve({ tokens: 1 }, { key: 'b' })
    await budgets.run('deleteBudget', { root: ROOT, name: TENANT })
    expect(await reconcile(budgets)).toBe(0)
    expect(await budgets.sums(ROOT)).toEqual({ spent: { tokens: 8 }, reserved: { tokens: 1 } })
    expect((await typesOf(budgets)).filter((type) => type === 'account')).toHaveLength(1)

    clock.advance(1)
    const terms = { parent: ROOT, hard: { tokens: 10 } }
    expect(await budgets.define(TENANT, { ...terms, isDeclared: true })).toMatchObject({ kind: 'budget_kept' })
    expect(await budgets.define(TENANT, terms)).toMatchObject({ kind: 'budget_changed' })
    expect(await budgets.reserve({ tokens: 10 }, { key: 'c' })).toMatchObject({ kind: 'budget_reserved' })
    await budgets.release('b')
    await budgets.settle('c', { tokens: 3 })
    clock.advance(CHARGE_RETENTION_MS - 1)
    await budgets.duePass()

    expect(await reconcile(budgets)).toBe(0)
    expect(await budgets.account()).toMatchObject({ total: [{ value: 3 }], removed: [], reservationCount: 0 })
    expect(await budgets.account(ROOT)).toMatchObject({ total: [{ value: 11 }], removed: [{ value: 8 }] })
  })
})

conforms('defineBudget of a name that was deleted', ({ fabric, clock }) => {
  const budgets = new GivenBudgets(fabric)
  const limits = new GivenLimits(fabric)
  const asTenant = { limit: budgetId(ROOT, TENANT), key: 'acme' }

  test('begins with nothing, also before the accounts of the deleted budget are removed', async () => {
    await budgets.tree({ hard: { tokens: 10 } })
    await budgets.spend({ tokens: 7 })
    await budgets.reserve({ tokens: 3 }, { key: 'settled-while-deleted' })
    await budgets.reserve({ tokens: 2 }, { key: 'other', tenant: 'bees' })
    clock.advance(1)
    await budgets.run('deleteBudget', { root: ROOT, name: TENANT })
    await budgets.settle('settled-while-deleted', { tokens: 3 })
    clock.advance(1)
    await budgets.define(TENANT, { parent: ROOT, hard: { tokens: 10 } })

    expect(await budgets.account()).toBeUndefined()
    expect(await budgets.run('describeBudget', { root: ROOT, name: TENANT, limit: 5 })).toMatchObject({ accounts: [] })
    expect(await limits.take(1, asTenant)).toMatchObject({ granted: 1 })
    expect(await budgets.reserve({ tokens: 10 }, { key: 'new' })).toMatchObject({ kind: 'budget_reserved' })
    expect(await budgets.settle('other', { tokens: 2 }, { tenant: 'bees' })).toMatchObject({ hasLapsed: false })
    await budgets.settle('new', { tokens: 4 })
    expect(await budgets.sums()).toEqual({ spent: { tokens: 4 }, reserved: {} })
    expect(await budgets.sums(TENANT, 'bees')).toEqual({ spent: { tokens: 2 }, reserved: {} })
    expect(await budgets.sums(ROOT)).toEqual({ spent: { tokens: 16 }, reserved: {} })
    expect(await reconcile(budgets)).toBe(0)
    // The sums of the earlier budget end as those of a period do.
    const reset = { root: ROOT, name: TENANT, key: 'acme', requestId: 'r' }
    expect(await budgets.run('resetBudget', reset)).toMatchObject({ kind: 'budget_reset' })
    const { periods } = await budgets.run('readPeriods', { ...reset, limit: 5 })
    expect(periods.map(({ spent }) => spent[0]?.value)).toEqual([4, 7])
  })

  test('an account of the deleted budget that nothing uses again is removed', async () => {
    await budgets.tree({ hard: { tokens: 10 } })
    await budgets.spend({ tokens: 7 })
    clock.advance(1)
    await budgets.run('deleteBudget', { root: ROOT, name: TENANT })
    await budgets.define(TENANT, { parent: ROOT, hard: { tokens: 10 } })

    expect(await reconcile(budgets)).toBe(0)
    expect((await typesOf(budgets)).filter((type) => type === 'account')).toHaveLength(1)
  })
})

conforms('reconcileBudgets', ({ fabric, clock }) => {
  const budgets = new GivenBudgets(fabric)

  test('an account that is idle vanishes with its periods, and one that still bounds does not', async () => {
    const start = clock.now()
    const boundaries = [1, 2, 3, 4, 5, 6, 7, 8].map((day) => start + day * DAY_MS)
    await budgets.tree({ hard: { tokens: 100 }, period: PERIOD, boundaries }, { hard: { tokens: 100 } })
    await budgets.spend({ tokens: 5 }, { key: 'a' })
    clock.advance(DAY_MS)
    await budgets.spend({ tokens: 6 }, { key: 'b' })
    clock.advance(CHARGE_RETENTION_MS - 1)
    await budgets.duePass()
    expect(await reconcile(budgets)).toBe(0)
    const kept = ['account', 'account', 'budget', 'budget', 'past_period', 'past_period']
    expect((await typesOf(budgets)).sort()).toEqual(kept)
    clock.advance(1)
    await budgets.duePass()
    expect(ACCOUNT_IDLE_MS).toBe(CHARGE_RETENTION_MS)

    expect(await reconcile(budgets)).toBe(0)
    // What was spent of the root, which never begins anew, applies for ever.
    expect((await typesOf(budgets)).sort()).toEqual(['account', 'budget', 'budget'])
    expect(await budgets.sums(ROOT)).toEqual({ spent: { tokens: 11 }, reserved: {} })
    await budgets.run('resetBudget', { root: ROOT, name: ROOT, key: '', requestId: 'r' })
    clock.advance(ACCOUNT_IDLE_MS)
    await reconcile(budgets)
    expect(await typesOf(budgets)).toEqual(['budget', 'budget'])
  })

  test.each<[string, (budgets: GivenBudgets) => Promise<unknown>]>([
    [
      'that was raised',
      (given) =>
        given.run('raiseBudget', {
          ...{ root: ROOT, name: TENANT, key: 'acme', requestId: 'r', amounts: [{ dimension: 'tokens', value: 5 }] },
        }),
    ],
    ['with an open reservation', (given) => given.reserve({ tokens: 5 }, { key: 'a', ttlMs: DAY_MS })],
  ])('an account %s stays', async (_, use) => {
    await budgets.tree({ hard: { tokens: 10 } })
    await use(budgets)
    clock.advance(ACCOUNT_IDLE_MS)

    expect(await reconcile(budgets)).toBe(0)
    expect(await budgets.account()).toBeDefined()
  })

  test('an account stays as long as a reset of it may be repeated', async () => {
    await budgets.tree({ hard: { tokens: 10 } })
    await budgets.reserve({ tokens: 5 }, { key: 'a' })
    await budgets.release('a')
    clock.advance(ACCOUNT_IDLE_MS - 1)
    const reset = { root: ROOT, name: TENANT, key: 'acme', requestId: 'r' }
    await budgets.run('resetBudget', reset)
    clock.advance(1)

    await reconcile(budgets)
    expect(await budgets.run('resetBudget', reset)).toMatchObject({ kind: 'already_reset' })
    clock.advance(ACCOUNT_IDLE_MS)
    await reconcile(budgets)
    expect(await budgets.account()).toBeUndefined()
  })
})
