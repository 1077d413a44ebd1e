/** Random commands of budgets, each made twice, beside an oracle that adds everything up anew. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { Clock } from '../conformance/clock.ts'
import { TestFabric } from '../conformance/fabric.ts'
import { GivenBudgets, ROOT, TENANT, amountsOf, objectOf } from '../conformance/given-budgets.ts'
import { sharedProblemsOf } from '../conformance/invariants.ts'
import { PARTITION } from '../conformance/given-limits.ts'
import type { StoreTarget } from '../conformance/store-target.ts'

const TTL_MS = 400
const TENANTS = ['acme', 'other'] as const
const HARD = { [TENANT]: 40, [ROOT]: 60 } as const

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g')
const tenant = fc.constantFrom(...TENANTS)
const tokens = fc.integer({ min: 0, max: 30 })
const asked = fc.integer({ min: 1, max: 30 })

export const command = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('reserve' as const), key, tenant, tokens: asked }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('settle' as const), key, tenant, tokens }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('spend' as const), key, tenant, tokens }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('raise' as const), key, tenant, tokens }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset' as const), key, tenant }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 250 }) }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'due' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'reconcile' as const }) },
)
export type Command = typeof command extends fc.Arbitrary<infer C> ? C : never

interface Reservation {
  readonly accounts: readonly string[]
  readonly tokens: number
  expiresAt: number
}

/** One key of a budget, in the simplest form. */
interface Sums {
  hard: number
  spent: number
  total: number
  readonly requests: Set<string>
}

class Oracle {
  readonly reservations = new Map<string, Reservation>()
  readonly charged = new Set<string>()
  readonly #sums = new Map<string, Sums>()

  of(account: string): Sums {
    const found = this.#sums.get(account) ?? {
      hard: account === ROOT ? HARD[ROOT] : HARD[TENANT],
      spent: 0,
      total: 0,
      requests: new Set(),
    }
    this.#sums.set(account, found)
    return found
  }

  reservedOf(account: string): number {
    return [...this.reservations.values()]
      .filter(({ accounts }) => accounts.includes(account))
      .reduce((sum, one) => sum + one.tokens, 0)
  }

  hasRoom(accounts: readonly string[], asked: number): boolean {
    // A report of nothing asks for nothing, also where nothing is left.
    return accounts.every((account) => {
      const { hard, spent } = this.of(account)
      return spent + this.reservedOf(account) + asked <= hard
    })
  }

  charge(accounts: readonly string[], spent: number): void {
    for (const account of accounts) {
      const sums = this.of(account)
      sums.spent += spent
      sums.total += spent
    }
  }
}

class Run {
  readonly #budgets: GivenBudgets
  readonly #clock: Clock
  readonly #oracle = new Oracle()

  constructor(fabric: TestFabric) {
    this.#budgets = new GivenBudgets(fabric)
    this.#clock = new Clock(fabric)
  }

  /** Every call is made twice, as after a lost reply. */
  async do(one: Command): Promise<void> {
    switch (one.kind) {
      case 'reserve': {
        await this.#reserve(one)
        return
      }
      case 'settle': {
        await this.#settle(one)
        return
      }
      case 'spend': {
        await this.#spend(one)
        return
      }
      case 'release': {
        const isHeld = this.#oracle.reservations.delete(one.key)
        const kinds = await this.#twice(async () => (await this.#budgets.release(one.key)).kind)
        expect(kinds).toEqual([isHeld ? 'reservation_released' : 'already_released', 'already_released'])
        return
      }
      case 'raise': {
        await this.#raise(one)
        return
      }
      case 'reset': {
        const sums = this.#oracle.of(one.tenant)
        const isNew = !sums.requests.has(`reset ${one.key}`)
        const reset = { root: ROOT, name: TENANT, key: one.tenant, requestId: `reset ${one.key} ${sums.requests.size}` }
        if (!isNew) return
        sums.requests.add(`reset ${one.key}`)
        const kinds = await this.#twice(async () => (await this.#budgets.run('resetBudget', reset)).kind)
        expect(kinds).toEqual(['budget_reset', 'already_reset'])
        sums.spent = 0
        sums.hard = HARD[TENANT]
        return
      }
      case 'advance':
        this.#clock.advance(one.ms)
        return
      case 'due':
        await this.#budgets.duePass()
        for (const [key, { expiresAt }] of this.#oracle.reservations) {
          if (expiresAt <= this.#clock.now()) this.#oracle.reservations.delete(key)
        }
        return
      case 'reconcile':
        expect((await this.#budgets.run('reconcileBudgets', {})).repaired).toEqual([])
    }
  }

  async check(): Promise<void> {
    for (const [name, account] of [[ROOT, ''], ...TENANTS.map((one) => [TENANT, one] as const)] as const) {
      const stored = await this.#budgets.account(name, account)
      const { spent, total } = this.#oracle.of(account === '' ? ROOT : account)
      const reserved = this.#oracle.reservedOf(account === '' ? ROOT : account)
      const sums = [stored?.spent, stored?.total, stored?.reserved].map((one) => objectOf(one ?? [])['tokens'] ?? 0)
      expect(sums).toEqual([spent, total, reserved])
    }
  }

  async #reserve({ key: id, tenant: own, tokens: asked }: Extract<Command, { kind: 'reserve' }>): Promise<void> {
    const oracle = this.#oracle
    const known = oracle.reservations.get(id)
    const accounts = [own, ROOT]
    const isSame = known?.tokens === asked
    if (!isSame && !oracle.charged.has(id)) oracle.reservations.delete(id)
    const fits = oracle.hasRoom(accounts, asked)
    const expected = oracle.charged.has(id)
      ? 'already_settled'
      : isSame
        ? 'already_reserved'
        : fits
          ? 'budget_reserved'
          : 'budget_exceeded'
    const again = expected === 'budget_reserved' ? 'already_reserved' : expected
    const by = { key: id, tenant: own, ttlMs: TTL_MS }
    const kinds = await this.#twice(async () => (await this.#budgets.reserve({ tokens: asked }, by)).kind)
    expect(kinds).toEqual([expected, again])
    const expiresAt = this.#clock.now() + TTL_MS
    if (known !== undefined && expected === 'already_reserved') known.expiresAt = Math.max(known.expiresAt, expiresAt)
    if (expected === 'budget_reserved') oracle.reservations.set(id, { accounts, tokens: asked, expiresAt })
  }

  async #settle({ key: id, tenant: own, tokens: spent }: Extract<Command, { kind: 'settle' }>): Promise<void> {
    const oracle = this.#oracle
    const held = oracle.reservations.get(id)
    const isNew = !oracle.charged.has(id)
    const kinds = await this.#twice(
      async () => (await this.#budgets.settle(id, { tokens: spent }, { tenant: own })).kind,
    )
    expect(kinds).toEqual([isNew ? 'reservation_settled' : 'already_settled', 'already_settled'])
    if (!isNew) return
    oracle.reservations.delete(id)
    oracle.charged.add(id)
    oracle.charge(held?.accounts ?? [own, ROOT], spent)
  }

  async #spend({ key, tenant: own, tokens: spent }: Extract<Command, { kind: 'spend' }>): Promise<void> {
    const id = `spend ${key}`
    const isNew = !this.#oracle.charged.has(id)
    const by = { key: id, tenant: own }
    const kinds = await this.#twice(async () => (await this.#budgets.spend({ tokens: spent }, by)).kind)
    expect(kinds).toEqual([isNew ? 'spent' : 'already_spent', 'already_spent'])
    if (!isNew) return
    this.#oracle.charged.add(id)
    this.#oracle.charge([own, ROOT], spent)
  }

  async #raise({ key, tenant: own, tokens: added }: Extract<Command, { kind: 'raise' }>): Promise<void> {
    const sums = this.#oracle.of(own)
    const requestId = `raise ${key}`
    const isNew = !sums.requests.has(requestId)
    const raise = { root: ROOT, name: TENANT, key: own, requestId, amounts: amountsOf({ tokens: added }) }
    const kinds = await this.#twice(async () => (await this.#budgets.run('raiseBudget', raise)).kind)
    expect(kinds).toEqual([isNew ? 'budget_raised' : 'already_raised', 'already_raised'])
    sums.requests.add(requestId)
    if (isNew) sums.hard += added
  }

  async #twice<T>(call: () => Promise<T>): Promise<T[]> {
    return [await call(), await call()]
  }
}

/** Follows commands on a new store. Throws where it differs from the oracle, or breaks an invariant. */
export async function follow(target: StoreTarget, commands: readonly Command[]): Promise<void> {
  const fabric = new TestFabric(target)
  await fabric.open()
  try {
    const run = new Run(fabric)
    await new GivenBudgets(fabric).tree({ hard: { tokens: HARD[TENANT] } }, { hard: { tokens: HARD[ROOT] } })
    for (const one of commands) {
      await run.do(one)
      await run.check()
    }
    expect(sharedProblemsOf(await fabric.dump(PARTITION))).toEqual([])
  } finally {
    await fabric.close()
  }
}
