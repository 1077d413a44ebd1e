import { expect, test } from 'vitest'
import { BUDGET_PLAN_MAX, CHARGE_RETENTION_MS } from '../../src/kernel/index.ts'
import { APPROVAL_VALID_MS, BUDGET_RAISE_MAX, BUDGET_RECONCILE_COUNT } from '../../src/kernel/limits.ts'
import { GivenBudgets, ROOT, TENANT, amountsOf, objectOf } from './given-budgets.ts'
import { GivenLimits, PARTITION } from './given-limits.ts'
import { conforms } from './harness.ts'

const DAY_MS = 86_400_000
const PERIOD = { every: 'day', cron: '0 0 * * *', timeZone: 'UTC' }

conforms('reserveBudget', ({ fabric, clock }) => {
  const budgets = new GivenBudgets(fabric)

  test('reserves at all levels, exactly up to the limit, and in all dimensions or none', async () => {
    await budgets.tree({ hard: { tokens: 100, calls: 2 } }, { hard: { tokens: 150 } })

    expect(await budgets.reserve({ tokens: 100, calls: 1 })).toMatchObject({ kind: 'budget_reserved' })
    expect(await budgets.reserve({ calls: 1, tokens: 1 })).toMatchObject({
      kind: 'budget_exceeded',
      overrun: { name: TENANT, key: 'acme', dimension: 'tokens', spent: 0, reserved: 100, hard: 100, asked: 1 },
    })
    // Another tenant has its own limit, below the one of all.
    expect(await budgets.reserve({ tokens: 51 }, { tenant: 'other' })).toMatchObject({ overrun: { name: ROOT } })
    expect(await budgets.reserve({ tokens: 50 }, { tenant: 'other' })).toMatchObject({ kind: 'budget_reserved' })
    expect(await budgets.sums()).toEqual({ spent: {}, reserved: { tokens: 100, calls: 1 } })
    expect(await budgets.sums(ROOT)).toEqual({ spent: {}, reserved: { tokens: 150, calls: 1 } })
    expect(await budgets.account()).toMatchObject({ breachCount: 1, breachedDimension: 'tokens' })
  })

  test('is idempotent per key, and a later lease takes a reservation over', async () => {
    await budgets.tree()
    await budgets.reserve({ tokens: 60 }, { key: 'a', epoch: 2 })

    expect(await budgets.reserve({ tokens: 60 }, { key: 'a', epoch: 2 })).toMatchObject({ kind: 'already_reserved' })
    expect(await budgets.reserve({ tokens: 60 }, { key: 'a', epoch: 3 })).toMatchObject({ kind: 'already_reserved' })
    expect(await budgets.reserve({ tokens: 60 }, { key: 'a', epoch: 2 })).toMatchObject({ code: 'stale_lease' })
    expect(await budgets.release('a', 2)).toMatchObject({ kind: 'already_released' })
    expect(await budgets.sums()).toMatchObject({ reserved: { tokens: 60 } })
    await budgets.settle('a', { tokens: 10 })
    expect(await budgets.reserve({ tokens: 60 }, { key: 'a', epoch: 4 })).toEqual({ kind: 'already_settled' })
    expect(await budgets.sums()).toEqual({ spent: { tokens: 10 }, reserved: {} })
  })

  test('with other amounts replaces what the key holds, and holds nothing if there is no room for them', async () => {
    await budgets.tree({ hard: { tokens: 100 } }, { hard: { tokens: 150 } })
    await budgets.reserve({ tokens: 60 }, { key: 'a', epoch: 2 })
    await budgets.reserve({ tokens: 30 }, { key: 'b' })

    expect(await budgets.reserve({ tokens: 1 }, { key: 'a', epoch: 1 })).toMatchObject({ code: 'stale_lease' })
    for (const kind of ['budget_reserved', 'already_reserved'])
      expect(await budgets.reserve({ tokens: 70 }, { key: 'a', epoch: 3 })).toMatchObject({ kind })
    expect(await budgets.sums(ROOT)).toEqual({ spent: {}, reserved: { tokens: 100 } })
    for (let i = 0; i < 2; i++) {
      expect(await budgets.reserve({ tokens: 71, calls: 1 }, { key: 'a', epoch: 3 })).toMatchObject({
        kind: 'budget_exceeded',
        overrun: { dimension: 'tokens', reserved: 30, asked: 71 },
      })
    }
    expect(await budgets.sums()).toEqual({ spent: {}, reserved: { tokens: 30 } })
    expect(await budgets.account()).toMatchObject({ reservationCount: 1, breachCount: 1 })
    expect(await budgets.reserve({ calls: 5 }, { key: 'b' })).toMatchObject({ kind: 'budget_reserved' })
    expect(await budgets.settle('b', { tokens: 100 })).toMatchObject({ hasLapsed: false, hard: [] })
    expect(await budgets.sums(ROOT)).toEqual({ spent: { tokens: 100 }, reserved: {} })
  })

  test('a race for the last room has one winner', async () => {
    await budgets.tree({ hard: { tokens: 100 } })

    const results = await Promise.all([60, 60, 60].map((tokens) => budgets.reserve({ tokens })))

    expect(results.map(({ kind }) => kind).sort()).toEqual(['budget_exceeded', 'budget_exceeded', 'budget_reserved'])
  })

  test('what is not renewed lapses, and what was spent counts also afterwards', async () => {
    await budgets.tree()
    for (const key of ['lapsed', 'renewed']) await budgets.reserve({ tokens: 50 }, { key, ttlMs: 1_000 })
    const reservations = [
      { root: ROOT, key: 'renewed' },
      { root: ROOT, key: 'none' },
    ]
    expect(await budgets.run('renewReservations', { reservations, ttlMs: 5_000 })).toMatchObject({
      isHeld: [true, false],
    })
    clock.advance(1_000)
    await budgets.duePass()

    expect(await budgets.sums()).toEqual({ spent: {}, reserved: { tokens: 50 } })
    expect(await budgets.settle('lapsed', { tokens: 70 })).toMatchObject({ hasLapsed: true, hard: [] })
    expect(await budgets.settle('renewed', { tokens: 45 })).toMatchObject({
      hasLapsed: false,
      hard: [{ name: TENANT, dimension: 'tokens', spent: 115, hard: 100 }],
    })
  })

  test('a budget that only warns has always room, and a frozen one has none', async () => {
    await budgets.tree({ hard: { tokens: 10 }, soft: { tokens: 5 }, onBreach: 'warn' })

    expect(await budgets.reserve({ tokens: 20 }, { key: 'a' })).toMatchObject({ kind: 'budget_reserved' })
    const settled = await budgets.settle('a', { tokens: 20 })
    expect(settled).toMatchObject({ hard: [{ hard: 10, onBreach: 'warn' }], soft: [{ hard: 5 }] })
    await budgets.run('freezeBudget', { root: ROOT, name: ROOT, isFrozen: true, by: 'ada' })
    expect(await budgets.reserve({ tokens: 1 })).toMatchObject({ overrun: { name: ROOT, isFrozen: true } })
    expect(await budgets.spend({ tokens: 1 })).toMatchObject({ kind: 'spent' })
  })
})

conforms('spendBudget', ({ fabric, clock }) => {
  const budgets = new GivenBudgets(fabric)

  test('counts each key once at all levels, and keeps who spent what', async () => {
    await budgets.tree()
    await budgets.spend({ tokens: 30, cost: 5 }, { key: 'a', task: 'draft' })
    clock.advance(5)
    await budgets.spend({ tokens: 3 }, { key: 'b' })
    await budgets.spend({ tokens: 4 }, { key: 'c', tenant: 'other' })

    expect(await budgets.spend({ tokens: 99 }, { key: 'a' })).toEqual({
      kind: 'already_spent',
      at: clock.now() - 5,
      hard: [],
    })
    expect(await budgets.sums(ROOT)).toEqual({ spent: { tokens: 37, cost: 5 }, reserved: {} })
    const account = { root: ROOT, name: TENANT, key: 'acme' }
    const { charges, cursor } = await budgets.run('readCharges', { account, limit: 1 })
    expect(charges).toMatchObject([{ key: 'b', spender: { task: 'summarise', epoch: 1 } }])
    expect(await budgets.run('readCharges', { account, limit: 5, cursor })).toMatchObject({
      charges: [{ key: 'a', spender: { task: 'draft' } }],
    })
    expect((await budgets.account())?.tasks.map(({ task, count, spent }) => [task, count, objectOf(spent)])).toEqual([
      ['draft', 1, { tokens: 30, cost: 5 }],
      ['summarise', 1, { tokens: 3 }],
    ])
  })

  test('never refuses what has happened, and reports each limit that it has passed', async () => {
    await budgets.tree({ hard: { tokens: 100 }, soft: { tokens: 50 } }, { hard: { tokens: 120 } })

    expect(await budgets.spend({ tokens: 60 }, { key: 'a' })).toMatchObject({
      hard: [],
      soft: [{ dimension: 'tokens', spent: 60 }],
    })
    const passed = [{ name: TENANT }, { name: ROOT }]
    expect(await budgets.spend({ tokens: 90 }, { key: 'b' })).toMatchObject({ kind: 'spent', hard: passed })
    // The process may have died before it reacted. What had room when it was spent has passed nothing.
    expect(await budgets.spend({ tokens: 90 }, { key: 'b' })).toMatchObject({ kind: 'already_spent', hard: passed })
    expect(await budgets.spend({ tokens: 60 }, { key: 'a' })).toMatchObject({ kind: 'already_spent', hard: [] })
    expect(await budgets.sums()).toEqual({ spent: { tokens: 150 }, reserved: {} })
    const events = (await budgets.dump()).events.map(({ type }) => type).filter((type) => type !== 'budget_changed')
    expect(events).toEqual(['budget_warned', 'budget_breached', 'budget_breached'])
  })

  test('counts in the budgets that the execution was submitted with, whatever is above them now', async () => {
    await budgets.tree()
    await budgets.reserve({ tokens: 5 }, { key: 'a' })
    await budgets.define('team', { parent: ROOT })
    expect(await budgets.define(TENANT, { parent: 'team' })).toMatchObject({ kind: 'budget_changed' })

    expect(await budgets.spend({ tokens: 3 })).toMatchObject({ kind: 'spent' })
    expect(await budgets.settle('a', { tokens: 4 })).toMatchObject({ kind: 'reservation_settled' })
    expect(await budgets.sums(ROOT)).toEqual({ spent: { tokens: 7 }, reserved: {} })
  })

  test('is refused by a tree that lacks a level, and writes nothing', async () => {
    await budgets.define(ROOT, {})

    expect(await budgets.spend({ tokens: 1 })).toMatchObject({ code: 'budget_not_found', detail: { name: TENANT } })
    expect(await budgets.define('deep', { parent: 'none' })).toMatchObject({ code: 'budget_not_found' })
    expect((await budgets.dump()).records.map(({ type }) => type)).toEqual(['budget'])
  })

  test('a line of the ledger is removed by age, and the sums stay', async () => {
    await budgets.tree()
    await budgets.spend({ tokens: 30 })
    clock.advance(CHARGE_RETENTION_MS)
    await budgets.duePass()
    await budgets.spend({ tokens: 1 })

    expect((await budgets.dump()).records.filter(({ type }) => type === 'charge')).toHaveLength(1)
    expect(await budgets.sums()).toMatchObject({ spent: { tokens: 31 } })
    expect(await budgets.run('reconcileBudgets', {})).toMatchObject({ repaired: [] })
  })
})

conforms('reconcileBudgets', ({ fabric }) => {
  const budgets = new GivenBudgets(fabric)

  test('a reservation that takes the place of another between two pages is no difference', async () => {
    await budgets.tree({})
    const keys = Array.from({ length: BUDGET_RECONCILE_COUNT }, (_, i) => `b${i}`)
    await Promise.all(keys.map((key) => budgets.reserve({ tokens: 1 }, { key })))
    const page = await budgets.run('reconcileBudgets', {})
    await budgets.release('b0')
    await budgets.reserve({ tokens: 1 }, { key: 'c' })

    expect(page).toMatchObject({ repaired: [], cursor: { open: { stage: 'reservations' } } })
    expect(await budgets.run('reconcileBudgets', { cursor: page.cursor })).toMatchObject({ repaired: [] })
  })
})

conforms('budgets that begin anew', ({ fabric, clock }) => {
  const budgets = new GivenBudgets(fabric)

  test('a boundary closes the period, with its sums, and asks for further boundaries', async () => {
    const first = clock.now() + DAY_MS
    const boundaries = [0, 1, 2, 3, 4].map((day) => first + day * DAY_MS)
    await budgets.tree({ hard: { tokens: 100 }, period: PERIOD, boundaries })
    await budgets.spend({ tokens: 100 }, { key: 'a' })
    await budgets.reserve({ tokens: 1 }, { key: 'b' })
    expect(await budgets.reserve({ tokens: 1 })).toMatchObject({ overrun: { resetsInMs: DAY_MS } })

    clock.advance(DAY_MS)
    // Accounts follow without the due pass.
    expect(await budgets.reserve({ tokens: 80 }, { key: 'c' })).toMatchObject({ kind: 'budget_reserved' })
    expect((await budgets.duePass()).handled.map((one) => one.case)).toContain('budget_planning')
    expect(await budgets.sums()).toEqual({ spent: {}, reserved: { tokens: 80 } })
    expect(await budgets.sums(ROOT)).toEqual({ spent: { tokens: 100 }, reserved: { tokens: 80 } })
    const account = { root: ROOT, name: TENANT, key: 'acme' }
    expect(await budgets.run('readPeriods', { ...account, limit: 5 })).toMatchObject({
      periods: [{ period: 1, until: first, spent: amountsOf({ tokens: 100 }), chargeCount: 1 }],
    })

    const plan = { root: ROOT, name: TENANT, period: PERIOD, after: boundaries.at(-1)! }
    const added = Array.from({ length: BUDGET_PLAN_MAX }, (_, i) => plan.after + (i + 1) * DAY_MS)
    expect(await budgets.run('planBudget', { ...plan, boundaries: added })).toEqual({ kind: 'budget_planned' })
    expect(await budgets.run('planBudget', { ...plan, boundaries: added })).toEqual({ kind: 'plan_outdated' })
    const described = await budgets.run('describeBudget', { ...account, limit: 1 })
    expect(described).toMatchObject({ budget: { boundaries: { length: BUDGET_PLAN_MAX }, planAt: undefined } })
  })

  test('a raise adds to the limit until then, once per request', async () => {
    await budgets.tree({ hard: { tokens: 10 }, period: PERIOD, boundaries: [clock.now() + DAY_MS] })
    await budgets.spend({ tokens: 10 })
    const raise = {
      root: ROOT,
      name: TENANT,
      key: 'acme',
      requestId: 'r',
      amounts: amountsOf({ tokens: 5 }),
      by: 'ada',
    }

    expect(await budgets.run('raiseBudget', raise)).toMatchObject({ kind: 'budget_raised' })
    expect(await budgets.run('raiseBudget', raise)).toMatchObject({ kind: 'already_raised' })
    expect(await budgets.reserve({ tokens: 6 })).toMatchObject({ kind: 'budget_exceeded', overrun: { hard: 15 } })
    expect(await budgets.reserve({ tokens: 5 }, { key: 'b' })).toMatchObject({ kind: 'budget_reserved' })
    await budgets.settle('b', { tokens: 5 })
    clock.advance(DAY_MS)
    expect(await budgets.reserve({ tokens: 11 })).toMatchObject({ overrun: { hard: 10, spent: 0 } })
  })

  test('a raise is known after any number of others, and an approval is void before its raise is forgotten', async () => {
    await budgets.tree({ hard: { tokens: 10 } })
    const raise = (requestId: string, approvedAt?: number) => {
      const by = { root: ROOT, name: TENANT, key: 'acme', amounts: amountsOf({ tokens: 1 }) }
      return budgets.run('raiseBudget', { ...by, requestId, approvedAt })
    }
    const approvedAt = clock.now()
    expect(await raise('first', approvedAt)).toMatchObject({ kind: 'budget_raised' })
    for (let i = 0; i < BUDGET_RAISE_MAX + 1; i++) await raise(`other-${i}`)
    expect(await raise('first', approvedAt)).toMatchObject({ kind: 'already_raised', wakes: [] })

    const late = clock.now()
    clock.advance(APPROVAL_VALID_MS)
    await budgets.duePass()
    expect(await raise('first', approvedAt)).toMatchObject({ kind: 'already_raised' })
    expect(await raise('late', late)).toMatchObject({ kind: 'budget_raised' })
    clock.advance(CHARGE_RETENTION_MS - APPROVAL_VALID_MS)
    while ((await budgets.duePass()).handled.length > 0);
    expect((await budgets.dump()).records.filter(({ type }) => type === 'charge')).toHaveLength(1)
    for (const requestId of ['first', 'other'])
      expect(await raise(requestId, approvedAt)).toMatchObject({ kind: 'approval_outdated', wakes: [] })
    expect(await budgets.account()).toMatchObject({ raised: amountsOf({ tokens: BUDGET_RAISE_MAX + 3 }) })
    expect(await budgets.run('reconcileBudgets', {})).toMatchObject({ repaired: [] })
  })

  test('a reset by hand keeps the total and the reservations, once per request', async () => {
    await budgets.tree({ hard: { tokens: 10 } })
    await budgets.spend({ tokens: 6 })
    await budgets.reserve({ tokens: 4 }, { key: 'open' })
    const reset = { root: ROOT, name: TENANT, key: 'acme', requestId: 'r' }
    clock.advance(1)

    expect(await budgets.run('resetBudget', reset)).toMatchObject({ kind: 'budget_reset' })
    expect(await budgets.run('resetBudget', reset)).toMatchObject({ kind: 'already_reset' })
    expect(await budgets.sums()).toEqual({ spent: {}, reserved: { tokens: 4 } })
    expect(await budgets.account()).toMatchObject({ period: 2, total: amountsOf({ tokens: 6 }) })
  })
})

conforms('work that a budget holds back', ({ fabric, clock }) => {
  const budgets = new GivenBudgets(fabric)
  const limits = new GivenLimits(fabric)
  const asTenant = { limit: [ROOT, TENANT].join('\u001f'), key: 'acme' }

  test('starts while there is room, and is named when there is room again', async () => {
    await budgets.tree({ hard: { tokens: 10 } })
    expect(await limits.take(2, asTenant)).toMatchObject({ granted: 2, isReusable: true })
    await budgets.reserve({ tokens: 10 }, { key: 'a' })

    expect(await limits.take(1, { ...asTenant, waitingIn: 0 })).toMatchObject({
      granted: 0,
      refusal: { cause: 'budget' },
      isAwaited: true,
    })
    const wake = { name: TENANT, key: 'acme', partition: 0 }
    expect(await budgets.settle('a', { tokens: 9 })).toMatchObject({ wakes: [wake] })
    expect(await limits.take(1, asTenant)).toMatchObject({ granted: 1 })

    await budgets.spend({ tokens: 1 })
    await limits.take(1, { ...asTenant, waitingIn: 0 }, { process: 'p2' })
    const raise = { root: ROOT, name: TENANT, key: 'acme', requestId: 'r', amounts: amountsOf({ tokens: 1 }) }
    expect(await budgets.run('raiseBudget', raise)).toMatchObject({ wakes: [wake] })
  })

  test('waits for the boundary, and for a frozen budget until it is opened', async () => {
    await budgets.tree({ hard: { tokens: 10 }, period: PERIOD, boundaries: [clock.now() + DAY_MS] })
    await budgets.spend({ tokens: 10 })
    expect(await limits.take(1, asTenant)).toMatchObject({ refusal: { cause: 'budget', retryAfterMs: DAY_MS } })
    clock.advance(DAY_MS)
    expect(await limits.take(1, asTenant)).toMatchObject({ granted: 1 })

    const freeze = { root: ROOT, name: TENANT, by: 'ada' }
    await budgets.run('freezeBudget', { ...freeze, isFrozen: true })
    const unused = { ...asTenant, key: 'unused' }
    expect(await limits.take(1, { ...unused, waitingIn: 0 })).toMatchObject({ refusal: { cause: 'budget' } })
    await budgets.run('freezeBudget', { ...freeze, isFrozen: false })
    expect(await fabric.runIn(PARTITION, 'wakeWaiting', { name: asTenant.limit })).toMatchObject({
      wakes: [{ key: 'unused', partition: 0 }],
    })
    await limits.run('reconcileLimits', {})
    expect(await limits.take(1, unused)).toMatchObject({ granted: 1 })
  })
})
