/** The calls of one execution to the partitions of its budgets: one call for each tree, in the same order in all executions. */
import type { BudgetShortage } from '../define/errors.ts'
import type { SpendReceipt } from '../define/context.ts'
import { budgetId, nameInBudgetId, rootInId } from '../../kernel/index.ts'
import type { AccountRef, Amounts, BudgetWake, Instant, LimitKey, Overrun, Spender } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { deliverWakes } from '../../stores/deliver-wakes.ts'
import { limitPartition } from '../../stores/partitions.ts'
import type { Partition } from '../../stores/store.ts'
import type { Batcher } from '../../stores/batcher.ts'

/** The execution that spends, and how its calls are sent. */
export interface BudgetOwner {
  readonly spender: Spender
  /** The keys of budgets that it spends. */
  readonly budgets: readonly LimitKey[]
  /** Distinguishes the calls of the runs of all executions, also of one that has the id of a removed one. */
  readonly keyPrefix: string
  /** Sends a call, and repeats it while the store does not answer. */
  readonly run: <T>(partition: Partition, call: () => Promise<T>) => Promise<T>
  /** The same for a report of what was spent: the call is repeated also after the lease is lost. */
  readonly report: <T>(partition: Partition, call: () => Promise<T>) => Promise<T>
}

/** A tree of budgets that an execution spends. */
export interface Tree {
  readonly root: string
  readonly partition: Partition
  readonly accounts: readonly AccountRef[]
}

/** An approval that raises a budget. */
export interface Approved {
  /** The name of the wait, which differs for repeated questions. */
  readonly wait: string
  readonly at: Instant
  readonly amounts: Amounts
  readonly by: string
}

/** What a tree answers to a spend or a settlement. */
export interface TreeReceipt {
  readonly isNew: boolean
  readonly hard: readonly Overrun[]
  readonly soft: readonly Overrun[]
}

export class BudgetAccount {
  readonly #owner: BudgetOwner
  readonly #batcher: Batcher
  readonly trees: readonly Tree[]

  constructor(owner: BudgetOwner, batcher: Batcher) {
    this.#owner = owner
    this.#batcher = batcher
    this.trees = treesOf(owner.budgets, batcher)
  }

  /** The key of a report whose caller has named it. */
  keyOf(name: string): string {
    return `${this.#owner.keyPrefix}:${name}`
  }

  /** The key of a reservation: a report of the same name counts besides its settlement. */
  reservationKeyOf(name: string): string {
    return `${this.#owner.keyPrefix}/${name}`
  }

  /** The key of a call without a name: no name is the same, whatever text it has. */
  numberedKeyOf(call: string, number: number): string {
    return `${this.#owner.keyPrefix}#${call}#${number}`
  }

  /** Records what was spent in all trees. A call whose reply was lost is repeated, and counts once. */
  async spend(key: string, amounts: Amounts): Promise<TreeReceipt[]> {
    return await this.#inAll(async (tree) => {
      const usage = this.#usage(tree, key, amounts)
      const call = () => this.#batcher.run(tree.partition, 'spendBudget', usage)
      const { result } = await this.#owner.report(tree.partition, call)
      if (result.kind === 'refused') throw new EngineError(result.code, result.detail)
      if (result.kind === 'already_spent') return { isNew: false, hard: result.hard, soft: [] }
      return this.#receiptOf(tree, result)
    })
  }

  async settle(key: string, amounts: Amounts): Promise<TreeReceipt[]> {
    return await this.#inAll(async (tree) => {
      const usage = this.#usage(tree, key, amounts)
      const call = () => this.#batcher.run(tree.partition, 'settleReservation', usage)
      const { result } = await this.#owner.report(tree.partition, call)
      if (result.kind === 'refused') throw new EngineError(result.code, result.detail)
      return this.#receiptOf(tree, result.kind === 'already_settled' ? undefined : result)
    })
  }

  /** Reserves tree by tree. If one refuses, what the others hold is given back. Returns what there was no room for. */
  async reserve(key: string, amounts: Amounts, ttlMs: number): Promise<{ tree: Tree; overrun: Overrun } | undefined> {
    for (const [i, tree] of this.trees.entries()) {
      const input = { ...this.#usage(tree, key, amounts), ttlMs }
      const { result } = await this.#run(tree, () => this.#batcher.run(tree.partition, 'reserveBudget', input))
      if (result.kind !== 'refused' && result.kind !== 'budget_exceeded') continue
      await this.#release(this.trees.slice(0, i), key)
      if (result.kind === 'refused') throw new EngineError(result.code, result.detail)
      return { tree, overrun: result.overrun }
    }
    return undefined
  }

  /** After an execution was delayed, lets the change wake it that makes room in a tree. If the call fails, the end of its delay does. */
  async awaitRoom(tree: Tree, key: string, amounts: Amounts, waitMs: number): Promise<void> {
    const input = { ...this.#usage(tree, key, amounts), waitMs }
    await this.#run(tree, () => this.#batcher.run(tree.partition, 'awaitRoom', input))
  }

  async release(key: string): Promise<void> {
    await this.#release(this.trees, key)
  }

  async #release(trees: readonly Tree[], key: string): Promise<void> {
    for (const tree of trees) {
      const { root, partition } = tree
      const { epoch } = this.#owner.spender
      const call = () => this.#batcher.run(partition, 'releaseReservation', { root, key, epoch })
      const { result } = await this.#run(tree, call)
      this.#wake(tree, result.wakes)
    }
  }

  /** Extends reservations by a single call for each tree. A failed one is repeated with the next renewal. */
  async renew(keys: readonly string[], ttlMs: number): Promise<void> {
    await Promise.allSettled(
      this.trees.map(async ({ root, partition }) => {
        const reservations = keys.map((key) => ({ root, key }))
        await this.#batcher.run(partition, 'renewReservations', { reservations, ttlMs })
      }),
    )
  }

  /** Adds to the hard limits of one key what an approval at some time permits. Once for each approval, whose wait has a name. */
  async raise(tree: Tree, { name, key }: AccountRef, { wait, at: approvedAt, amounts, by }: Approved): Promise<void> {
    const requestId = this.keyOf(`${wait}@${approvedAt}`)
    const input = { root: tree.root, name, key, requestId, amounts, by, reason: 'approved', approvedAt }
    const { result } = await this.#run(tree, () => this.#batcher.run(tree.partition, 'raiseBudget', input))
    if (result.kind === 'refused') throw new EngineError(result.code, result.detail)
    this.#wake(tree, result.wakes)
  }

  async #inAll<T>(call: (tree: Tree) => Promise<T>): Promise<T[]> {
    return await Promise.all(this.trees.map(call))
  }

  #run<T>({ partition }: Tree, call: () => Promise<T>): Promise<T> {
    return this.#owner.run(partition, call)
  }

  #receiptOf(tree: Tree, counted: { hard: Overrun[]; soft: Overrun[]; wakes: BudgetWake[] } | undefined): TreeReceipt {
    if (counted === undefined) return { isNew: false, hard: [], soft: [] }
    this.#wake(tree, counted.wakes)
    return { isNew: true, hard: counted.hard, soft: counted.soft }
  }

  /** Releases work that has room again. If a call fails, the engine releases it. */
  #wake({ root }: Tree, wakes: readonly BudgetWake[]): void {
    for (const [name, own] of Map.groupBy(wakes, (wake) => wake.name)) {
      deliverWakes(this.#batcher, budgetId(root, name), own).catch(() => undefined)
    }
  }

  #usage({ root, accounts }: Tree, key: string, amounts: Amounts) {
    return { root, key, accounts, amounts, spender: this.#owner.spender }
  }
}

/** In ascending order of the roots, so that executions do not hold what others wait for in turn. */
function treesOf(budgets: readonly LimitKey[], { store }: Batcher): Tree[] {
  const trees = new Map<string, { readonly accounts: AccountRef[]; readonly partition: Partition }>()
  for (const { limit, key } of budgets) {
    const root = rootInId(limit)
    const name = nameInBudgetId(limit)
    const tree = trees.get(root) ?? { accounts: [], partition: limitPartition(limit, store.settings) }
    tree.accounts.push({ name, key })
    trees.set(root, tree)
  }
  return [...trees].map(([root, tree]) => ({ root, ...tree })).sort((a, b) => (a.root < b.root ? -1 : 1))
}

export function shortageOf({ name, key, onBreach: _, ...shortage }: Overrun): BudgetShortage {
  return { budget: name, key, ...shortage }
}

/** What a handler receives: of all trees together. */
export function receiptOf(receipts: readonly TreeReceipt[]): SpendReceipt {
  const isNew = receipts.length === 0 || receipts.some((one) => one.isNew)
  const all = (kind: 'hard' | 'soft') =>
    receipts.flatMap((one) =>
      one[kind].map(({ name, key, dimension, spent, hard }) => ({ budget: name, key, dimension, spent, limit: hard })),
    )
  return { kind: isNew ? 'spent' : 'already_spent', hard: all('hard'), soft: all('soft') }
}
