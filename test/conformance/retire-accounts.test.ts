/** Accounts of executions: kept as long as anything may spend them, and removed then. */
import { expect, test } from 'vitest'
import { OWN_ACCOUNT_IDLE_MS, SPENDER_SCAN_COUNT } from '../../src/kernel/index.ts'
import type { ExecutionId, Position } from '../../src/kernel/index.ts'
import { accountId, budgetId } from '../../src/kernel/model/budget-ids.ts'
import { conforms } from './harness.ts'
import { GivenBudgets, ROOT, TENANT } from './given-budgets.ts'

/** An account of one execution below a shared one. */
const own = (key: string) => accountId(ROOT, TENANT, key)
const use = (key: string, how: 'own' | 'own_inherited' | 'inherited') => ({
  limit: budgetId(ROOT, TENANT),
  key,
  weight: 1,
  instead: undefined,
  budget: how,
})

conforms('findSpenders', ({ fabric, given }) => {
  const goneId = () => `0-${fabric.runtime.uuid()}` as ExecutionId
  const find = async (accounts: readonly string[], owners: readonly ExecutionId[]) => {
    const spent = new Set<string>()
    let cursor: Position | undefined
    do {
      const page = await fabric.run('findSpenders', { accounts, owners: cursor === undefined ? owners : [], cursor })
      for (const id of page.spent) spent.add(id)
      cursor = page.cursor
    } while (cursor !== undefined)
    return [...spent].sort()
  }

  test('an execution spends its own account, and so does a child that outlives it', async () => {
    const { executionId: parent } = await given.eligibleExecution({ limits: [use('', 'own_inherited')] })
    const gone = goneId()
    await given.eligibleExecution({ limits: [use(gone, 'inherited')] })
    const accounts = [own(parent), own(gone), own(goneId())]

    expect(await find(accounts, [parent, gone])).toEqual([own(parent), own(gone)].sort())
    expect(await find([own(parent)], [parent])).toEqual([own(parent)])
    expect(await find([own(`${parent}.1`)], [parent])).toEqual([])
  })

  test('all pages are examined', async () => {
    const gone = goneId()
    await given.executions(SPENDER_SCAN_COUNT)
    await given.eligibleExecution({ limits: [use(gone, 'inherited')] })

    expect(await fabric.run('findSpenders', { accounts: [own(gone)], owners: [gone] })).toMatchObject({ spent: [] })
    expect(await find([own(gone)], [gone])).toEqual([own(gone)])
  })
})

conforms('retireAccounts', ({ fabric, clock }) => {
  const budgets = new GivenBudgets(fabric)
  const [A, B] = ['0-018f4a3e-7b6b-7000-8000-00000000000a', '0-018f4a3e-7b6b-7000-8000-00000000000b'] as const
  const accounts = [own(A), own(B)]

  test('what nothing spends goes, what an execution spends stays for as long again', async () => {
    await budgets.tree({ hard: { tokens: 100 }, isPerExecution: true })
    for (const tenant of [A, B]) await budgets.spend({ tokens: 5 }, { tenant })
    clock.advance(OWN_ACCOUNT_IDLE_MS - 1)
    for (let i = 0; i < 2; i++) await budgets.duePass()
    const retire = async () => (await budgets.run('retireAccounts', { accounts, spent: [own(B)] })).removed
    expect(await idle()).toEqual([])
    expect(await retire()).toEqual([])

    clock.advance(1)
    expect(await idle()).toEqual([A, B])
    expect(await retire()).toEqual([own(A)])
    expect(await retire()).toEqual([])
    expect(await budgets.sums(TENANT, B)).toEqual({ spent: { tokens: 5 }, reserved: {} })
    clock.advance(OWN_ACCOUNT_IDLE_MS - 1)
    expect(await idle()).toEqual([])
    clock.advance(1)
    expect(await idle()).toEqual([B])
    await budgets.spend({ tokens: 1 }, { tenant: B })
    expect(await budgets.run('retireAccounts', { accounts, spent: [] })).toMatchObject({ removed: [] })
  })

  test('other accounts stay', async () => {
    await budgets.tree({ hard: { tokens: 100 } })
    await budgets.spend({ tokens: 5 })
    clock.advance(OWN_ACCOUNT_IDLE_MS)
    await budgets.duePass()

    const given = { accounts: [own('acme'), own('none')], spent: [] }
    expect(await budgets.run('retireAccounts', given)).toMatchObject({ removed: [] })
    expect(await budgets.account()).toBeDefined()
  })

  test('the accounts of a budget that was one for each tenant stay when it becomes one for each execution', async () => {
    await budgets.tree({ hard: { tokens: 100 } })
    await budgets.spend({ tokens: 5 })
    await budgets.define(TENANT, { parent: ROOT, hard: { tokens: 100 }, isPerExecution: true })
    clock.advance(OWN_ACCOUNT_IDLE_MS)
    await budgets.duePass()

    expect(await idle()).toEqual([])
    expect(await budgets.run('retireAccounts', { accounts: [own('acme')], spent: [] })).toMatchObject({ removed: [] })
    expect(await budgets.account()).toBeDefined()
  })

  /** The keys that a walk of the reconciler reports. */
  async function idle(): Promise<string[]> {
    const keys: string[] = []
    let page = await budgets.run('reconcileBudgets', {})
    for (;;) {
      keys.push(...page.idle.map(({ key }) => key))
      if (page.cursor === undefined) return keys.sort()
      page = await budgets.run('reconcileBudgets', { cursor: page.cursor })
    }
  }
})
