/** Executions that are delayed because less is left of a budget than they ask for: woken by what makes the room, and only if it is enough. */
import { expect, test } from 'vitest'
import type { ExecutionId, OperationResult, WakeCursor } from '../../src/kernel/index.ts'
import { BUDGET_PARKED_MAX, PARKED_WAKE_COUNT, WAKE_DELIVERY_MS } from '../../src/kernel/limits.ts'
import { budgetId } from '../../src/kernel/model/budget-ids.ts'
import { gaugeId } from '../../src/kernel/model/indexes.ts'
import { GivenBudgets, ROOT, TENANT, amountsOf } from './given-budgets.ts'
import { conforms } from './harness.ts'

const WAIT_MS = 60_000
const TTL_MS = 5_000
const LIMIT = budgetId(ROOT, TENANT)
const GAUGE = gaugeId(LIMIT, 'acme')
const ACCOUNT = { root: ROOT, name: TENANT, key: 'acme', requestId: 'r' }

conforms('awaitRoom', ({ fabric, given, clock }) => {
  const budgets = new GivenBudgets(fabric)

  const awaits = (executionId: ExecutionId, tokens: number, epoch = 1, root = ROOT, tenant = 'acme') =>
    budgets.run('awaitRoom', {
      root,
      key: `asks-${executionId}`,
      accounts: [
        { name: TENANT, key: tenant },
        { name: ROOT, key: '' },
      ],
      amounts: amountsOf({ tokens }),
      spender: { executionId, namespace: 'default', task: 'summarise', epoch, attempt: 1 },
      waitMs: WAIT_MS,
    })
  /** An execution that its holder has delayed, because less was left than it asks for. */
  const parked = async (tokens: number): Promise<ExecutionId> => {
    const held = await given.activeExecution()
    await fabric.run('delayExecution', { ...held, delayMs: WAIT_MS })
    await awaits(held.executionId, tokens, held.fence.epoch)
    return held.executionId
  }
  const owedTo = async (): Promise<ExecutionId[]> => {
    const { wakes } = await budgets.run('readWakes', { id: GAUGE })
    return wakes.flatMap(({ executions = [] }) => executions.map(({ executionId }) => executionId))
  }
  const deliver = async (): Promise<OperationResult<'openGates'>> => {
    const { wakes } = await budgets.run('readWakes', { id: GAUGE })
    const opened = await fabric.run('openGates', {
      gates: wakes.map(({ key, permits }) => ({ limit: LIMIT, key, permits, afterMs: 0 })),
      executions: wakes.flatMap(({ executions = [] }) => executions),
    })
    const keys = wakes.map(({ key, at = 0 }) => ({ key, at }))
    await budgets.run('confirmWakes', { limit: LIMIT, keys })
    return opened
  }
  const phaseOf = async (executionId: ExecutionId) => {
    const described = await fabric.run('describeExecution', { executionId })
    return described.kind === 'refused' ? undefined : described.execution.state.phase
  }

  test.each([
    ['a settlement that gives back', () => budgets.settle('held', { tokens: 10 })],
    ['a release', () => budgets.release('held')],
    ['a reservation that lapses', () => (clock.advance(TTL_MS), budgets.duePass())],
    ['a raise', () => budgets.run('raiseBudget', { ...ACCOUNT, amounts: amountsOf({ tokens: 10 }) })],
  ])('is woken by %s, once', async (_, makeRoom) => {
    await budgets.tree({ hard: { tokens: 100 } })
    await budgets.reserve({ tokens: 60 }, { key: 'held', ttlMs: TTL_MS })
    const id = await parked(50)

    await makeRoom()
    expect(await owedTo()).toEqual([id])
    await deliver()
    expect(await phaseOf(id)).toBe('eligible')
    await budgets.run('raiseBudget', { ...ACCOUNT, requestId: 's', amounts: amountsOf({ tokens: 10 }) })
    expect(await owedTo()).toEqual([])
  })

  test('is woken by a reset, and by a change of the level that had no room', async () => {
    await budgets.tree({ hard: { tokens: 100 } }, { hard: { tokens: 60 } })
    await budgets.spend({ tokens: 60 }, { key: 'a', tenant: 'other' })
    const byRoot = await parked(10)
    await budgets.spend({ tokens: 70 }, { key: 'b' })
    const reset = await budgets.run('resetBudget', { ...ACCOUNT, name: ROOT, key: '' })
    expect(reset).toMatchObject({ wakes: [{ name: ROOT, executions: [{ executionId: byRoot }] }] })

    const byTenant = await parked(40)
    expect(await budgets.run('resetBudget', ACCOUNT)).toMatchObject({
      wakes: [{ name: TENANT, executions: [{ executionId: byTenant }] }],
    })
  })

  test('wakes in the order of the refusals only those that fit together', async () => {
    await budgets.tree({ hard: { tokens: 100 } })
    await budgets.reserve({ tokens: 90 }, { key: 'held' })
    const [first, large, third] = [await parked(30), await parked(60), await parked(20)]
    await budgets.settle('held', { tokens: 85 })
    expect(await owedTo()).toEqual([])

    await budgets.run('raiseBudget', { ...ACCOUNT, amounts: amountsOf({ tokens: 35 }) })
    expect(await owedTo()).toEqual([first, third])
    await deliver()
    expect(await Promise.all([first, large, third].map(phaseOf))).toEqual(['eligible', 'delayed', 'eligible'])
    await budgets.run('raiseBudget', { ...ACCOUNT, requestId: 's', amounts: amountsOf({ tokens: 10 }) })
    expect(await owedTo()).toEqual([large])
  })

  test('is woken by the engine if room was made before it waited', async () => {
    await budgets.tree({ hard: { tokens: 100 } })
    await budgets.reserve({ tokens: 60 }, { key: 'held' })
    const held = await given.activeExecution()
    await budgets.release('held')
    await fabric.run('delayExecution', { ...held, delayMs: WAIT_MS })

    const { executionId, fence } = held
    for (let i = 0; i < 2; i++) await awaits(executionId, 50, fence.epoch)
    expect(await owedTo()).toEqual([executionId])
    expect((await budgets.duePass()).handled).toEqual([])
    clock.advance(WAKE_DELIVERY_MS)
    expect((await budgets.duePass()).handled.map((one) => one.case)).toContain('wake_delivery')
    await deliver()
    expect(await phaseOf(executionId)).toBe('eligible')
  })

  test('wakes of one partition that are not confirmed are named together', async () => {
    await budgets.tree({ hard: { tokens: 100 } })
    await budgets.reserve({ tokens: 95 }, { key: 'held' })
    const [first, second] = [await parked(10), await parked(20)]

    await budgets.run('raiseBudget', { ...ACCOUNT, amounts: amountsOf({ tokens: 5 }) })
    await budgets.run('raiseBudget', { ...ACCOUNT, requestId: 's', amounts: amountsOf({ tokens: 10 }) })
    expect(await owedTo()).toEqual([first, second])
    await deliver()
    expect(await Promise.all([first, second].map(phaseOf))).toEqual(['eligible', 'eligible'])
  })

  test('is not woken after its delay, under a later lease, or out of a delay of another kind', async () => {
    await budgets.tree({ hard: { tokens: 100 } })
    await budgets.reserve({ tokens: 60 }, { key: 'held' })
    const late = await parked(50)
    const submitted = await given.delayedExecution({ delayMs: 2 * WAIT_MS })
    await fabric.run('openGates', { gates: [], executions: [{ executionId: late, epoch: 0 }] })
    await fabric.run('openGates', { gates: [], executions: [{ executionId: submitted.executionId, epoch: 0 }] })
    expect([await phaseOf(late), await phaseOf(submitted.executionId)]).toEqual(['delayed', 'delayed'])

    clock.advance(WAIT_MS)
    await budgets.release('held')
    expect(await owedTo()).toEqual([])
    expect(await budgets.account()).not.toHaveProperty('parked', expect.anything())
  })

  test('a budget remembers a bounded number, and none that it does not know refuses', async () => {
    await budgets.tree({ hard: { tokens: 100 } })
    await budgets.reserve({ tokens: 100 }, { key: 'held' })
    const ids = Array.from({ length: BUDGET_PARKED_MAX + 1 }, () => given.newId())
    for (const id of ids) await awaits(id, 1)
    await budgets.release('held')

    expect(await owedTo()).toEqual(ids.slice(0, BUDGET_PARKED_MAX))
    expect(await awaits(given.newId(), 1, 1, 'unknown')).toMatchObject({ code: 'budget_not_found' })
  })

  /** Walks over the keys of a budget after a change of its definition, as the process of the change does. */
  const wokenBy = async (name = LIMIT): Promise<ExecutionId[]> => {
    const woken: ExecutionId[] = []
    let cursor: WakeCursor | undefined
    do {
      const page = await budgets.run('wakeWaiting', { name, cursor })
      for (const { executions = [] } of page.wakes) woken.push(...executions.map(({ executionId }) => executionId))
      cursor = page.cursor
    } while (cursor !== undefined)
    return woken
  }
  const freeze = (isFrozen: boolean, name = TENANT) => budgets.run('freezeBudget', { root: ROOT, name, isFrozen })

  test('a frozen budget wakes none until it is opened', async () => {
    await budgets.tree({ hard: { tokens: 100 } })
    await budgets.reserve({ tokens: 60 }, { key: 'held' })
    const [small, large] = [await parked(50), await parked(120)]
    await freeze(true)
    await budgets.release('held')
    expect([await owedTo(), await wokenBy()]).toEqual([[], []])

    await freeze(false)
    expect(await wokenBy()).toEqual([small])
    expect(await owedTo()).toEqual([small])
    await deliver()
    expect(await Promise.all([small, large].map(phaseOf))).toEqual(['eligible', 'delayed'])
    expect(await wokenBy()).toEqual([])
  })

  test('is woken by the opening of a level above, which refused it although there was room', async () => {
    await budgets.tree({ hard: { tokens: 100 } })
    await freeze(true, ROOT)
    const id = await parked(50)

    await freeze(false, ROOT)
    expect(await wokenBy()).toEqual([])
    expect(await wokenBy(budgetId(ROOT, ROOT))).toEqual([id])
  })

  test.each([
    ['a larger limit', () => budgets.define(TENANT, { parent: ROOT, hard: { tokens: 110 } })],
    ['another dimension', () => budgets.define(TENANT, { parent: ROOT, hard: { calls: 1 } })],
    ['a policy that only warns', () => budgets.define(TENANT, { parent: ROOT, hard: { tokens: 1 }, onBreach: 'warn' })],
    ['a policy that asks', () => budgets.define(TENANT, { parent: ROOT, hard: { tokens: 1 }, onBreach: 'suspend' })],
    ['a delete', () => budgets.run('deleteBudget', { root: ROOT, name: TENANT })],
  ])('is woken by %s', async (_, change) => {
    await budgets.tree({ hard: { tokens: 100 } })
    await budgets.reserve({ tokens: 60 }, { key: 'held' })
    const id = await parked(50)

    await change()
    expect(await wokenBy()).toEqual([id])
    clock.advance(WAKE_DELIVERY_MS)
    expect((await budgets.duePass()).handled.map((one) => one.case)).toContain('wake_delivery')
    await deliver()
    expect(await phaseOf(id)).toBe('eligible')
  })

  test('is woken page by page after a boundary that no report has passed yet', async () => {
    const boundary = clock.now() + TTL_MS
    const period = { every: 'day', cron: '0 0 * * *', timeZone: 'UTC' }
    await budgets.tree({ hard: { tokens: 100 }, period, boundaries: [boundary] })
    const tenants = Array.from({ length: PARKED_WAKE_COUNT + 1 }, (_, i) => `t${i}`)
    for (const tenant of tenants) {
      await budgets.spend({ tokens: 60 }, { key: tenant, tenant })
      await awaits(given.newId(), tenant === 't0' ? 101 : 50, 1, ROOT, tenant)
    }
    clock.advance(TTL_MS)

    expect(await wokenBy()).toHaveLength(PARKED_WAKE_COUNT)
    const account = { root: ROOT, name: TENANT, key: 't1', limit: 2 }
    expect(await budgets.run('readPeriods', account)).toMatchObject({ periods: [{ spent: amountsOf({ tokens: 60 }) }] })
    expect(await budgets.sums(TENANT, 't1')).toEqual({ spent: {}, reserved: {} })
  })
})
