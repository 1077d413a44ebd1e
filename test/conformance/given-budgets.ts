/** Builders for budgets: each names only what its test is about. */
import type {
  Account,
  Amounts,
  DefineBudgetInput,
  DueResult,
  OperationInput,
  OperationName,
  OperationResult,
} from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import type { TestFabric } from './fabric.ts'
import { PARTITION } from './given-limits.ts'

export const ROOT = 'company'
export const TENANT = 'tenant'

export type Given = Readonly<Record<string, number>>

/** Amounts in the order of their dimensions. */
export function amountsOf(given: Given): Amounts {
  return Object.keys(given)
    .sort()
    .map((dimension) => ({ dimension, value: given[dimension]! }))
}

export function objectOf(amounts: Amounts): Record<string, number> {
  return Object.fromEntries(amounts.map(({ dimension, value }) => [dimension, value]))
}

interface By {
  readonly key?: string
  readonly tenant?: string
  readonly epoch?: number
  readonly ttlMs?: number
  readonly task?: string
}

type Terms = Partial<Omit<DefineBudgetInput, 'hard' | 'soft'>> & { readonly hard?: Given; readonly soft?: Given }

export class GivenBudgets {
  readonly #fabric: TestFabric
  #calls = 0

  constructor(fabric: TestFabric) {
    this.#fabric = fabric
  }

  run<N extends OperationName>(operation: N, input: OperationInput<N>): Promise<OperationResult<N>> {
    return this.#fabric.runIn(PARTITION, operation, input)
  }

  dump(): Promise<PartitionDump> {
    return this.#fabric.dump(PARTITION)
  }

  duePass(): Promise<DueResult> {
    return this.run('runDue', { limit: 100, seed: 1, family: 'q' })
  }

  /** A tree of two levels: one budget for each tenant below one for all. */
  async tree(tenant: Terms = { hard: { tokens: 100 } }, root: Terms = {}) {
    await this.define(ROOT, root)
    return await this.define(TENANT, { ...tenant, parent: ROOT })
  }

  define(name: string, { hard = {}, soft = {}, ...rest }: Terms) {
    return this.run('defineBudget', {
      root: ROOT,
      name,
      hard: amountsOf(hard),
      soft: amountsOf(soft),
      onBreach: 'refuse_new',
      boundaries: [],
      ...rest,
    })
  }

  reserve(given: Given, by: By = {}): Promise<OperationResult<'reserveBudget'>> {
    return this.run('reserveBudget', { ...this.#usage(given, by), ttlMs: by.ttlMs ?? 30_000 })
  }

  settle(key: string, given: Given, by: By = {}): Promise<OperationResult<'settleReservation'>> {
    return this.run('settleReservation', this.#usage(given, { ...by, key }))
  }

  spend(given: Given, by: By = {}): Promise<OperationResult<'spendBudget'>> {
    return this.run('spendBudget', this.#usage(given, by))
  }

  release(key: string, epoch?: number): Promise<OperationResult<'releaseReservation'>> {
    return this.run('releaseReservation', { root: ROOT, key, epoch })
  }

  /** The account as everyone may see it. */
  async account(name = TENANT, key = name === ROOT ? '' : 'acme'): Promise<Account | undefined> {
    const described = await this.run('describeBudget', { root: ROOT, name, key, limit: 1 })
    return described.kind === 'refused' ? undefined : described.accounts[0]
  }

  /** What an account has spent and reserved. */
  async sums(name = TENANT, key?: string): Promise<{ spent: object; reserved: object }> {
    const account = await this.account(name, key)
    return { spent: objectOf(account?.spent ?? []), reserved: objectOf(account?.reserved ?? []) }
  }

  #usage(given: Given, { key = `call-${(this.#calls += 1)}`, tenant = 'acme', epoch = 1, task = 'summarise' }: By) {
    return {
      root: ROOT,
      key,
      accounts: [
        { name: TENANT, key: tenant },
        { name: ROOT, key: '' },
      ],
      amounts: amountsOf(given),
      spender: { executionId: undefined, namespace: 'default', task, epoch, attempt: 1 },
    }
  }
}
