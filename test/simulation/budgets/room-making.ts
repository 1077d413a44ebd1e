/** Work that finds less room than it asks for, or none, and what makes room for it: nothing else wakes it for a minute. */
import type { Amounts, OperationInput, OperationName, OperationResult } from '../../../src/kernel/index.ts'
import type { Fabric } from '../../../src/fabric/fabric.ts'
import type { Store } from '../../../src/stores/store.ts'

const PARTITION = 'q:0'
const PLENTY = 1_000_000
const LAPSES_AFTER_MS = 10_000
const HELD = 'held by another process'

export const roomMakers = ['opening', 'settlement', 'release', 'lapse', 'raise', 'reset', 'definition'] as const
export type RoomMaker = (typeof roomMakers)[number]

/** One key of a budget. */
export interface Place {
  readonly root: string
  readonly name: string
  readonly key: string
}

/** Uses up one key of a budget but for some tokens, and makes room again. */
export class RoomMaking {
  readonly #store: Store
  readonly #fabric: Fabric
  readonly #maker: RoomMaker
  readonly #place: Place

  constructor(store: Store, fabric: Fabric, maker: RoomMaker, place: Place) {
    this.#store = store
    this.#fabric = fabric
    this.#maker = maker
    this.#place = place
  }

  /** Reserves all but some tokens if a report of the reservation is to make the room, and spends them otherwise. */
  async useUp(leaves: number): Promise<void> {
    const { root, name, key } = this.#place
    const described = await this.#run('describeBudget', { root, name, key, limit: 1 })
    if (described.kind === 'refused') throw new Error('The world has no such budget.')
    const [account] = described.accounts
    const sumOf = (amounts: Amounts = []) => amounts.reduce((sum, { value }) => sum + value, 0)
    const hard = sumOf(described.budget.hard) + sumOf(account?.raised)
    const used = this.#usage(hard - sumOf(account?.spent) - sumOf(account?.reserved) - leaves)
    const isHeld = this.#maker === 'settlement' || this.#maker === 'release' || this.#maker === 'lapse'
    if (isHeld) await this.#run('reserveBudget', { ...used, ttlMs: LAPSES_AFTER_MS })
    else await this.#run('spendBudget', used)
  }

  /** A process that makes room by a report crashes before it delivers the wakes. */
  async makeRoom(): Promise<void> {
    const { budgets } = this.#fabric
    const { root, name, key } = this.#place
    const raise = { key, amounts: { tokens: PLENTY } }
    switch (this.#maker) {
      case 'settlement':
        await this.#run('settleReservation', this.#usage(1))
        return
      case 'release':
        await this.#run('releaseReservation', { root, key: HELD })
        return
      case 'lapse':
        return
      case 'raise':
        await budgets.raise(name, raise)
        return
      case 'reset':
        await budgets.reset(name, { key })
        return
      case 'opening':
        await budgets.freeze(name)
        await budgets.raise(name, raise)
        await budgets.open(name)
        return
      case 'definition': {
        const parent = (await budgets.describe(name)).parent
        await budgets.define(name, { ...(parent === undefined ? {} : { parent }), hard: { tokens: 10 * PLENTY } })
      }
    }
  }

  #usage(tokens: number) {
    const { root, name, key } = this.#place
    const spender = { executionId: undefined, namespace: 'default', task: 'other', epoch: 1, attempt: 1 }
    return { root, key: HELD, accounts: [{ name, key }], amounts: [{ dimension: 'tokens', value: tokens }], spender }
  }

  async #run<N extends OperationName>(operation: N, input: OperationInput<N>): Promise<OperationResult<N>> {
    const [answer] = await this.#store.run(PARTITION, [{ operation, input, blobs: [] }])
    if (answer?.kind !== 'answered') throw new Error(`${operation} has no answer`)
    return answer.result as OperationResult<N>
  }
}
