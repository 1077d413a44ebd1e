/** What must be true of budgets: an oracle that adds up every call which the store has applied, and is compared with the store. */
import type {
  AccountRef,
  Amounts,
  Charge,
  OperationInput,
  OperationName,
  OperationResult,
  Reservation,
} from '../../../src/kernel/index.ts'
import type { Answer, Call, PartitionDump } from '../../../src/stores/store.ts'
import { budgetProblems } from '../../conformance/budget-invariants.ts'

/** A budget of the world. All of them count one dimension. */
export interface KnownBudget {
  readonly hard: number
  /** How often it begins anew. */
  readonly everyMs: number | undefined
}

interface Sums {
  spent: number
  raised: number
  /** The number of the period in which these sums count. */
  period: number
  readonly requests: Set<string>
}

interface Held {
  readonly accounts: readonly string[]
  readonly tokens: number
  expiresAt: number
}

type Calls = { [N in OperationName]: (input: OperationInput<N>, result: OperationResult<N>) => void }

export class BudgetCheck {
  readonly problems: string[] = []
  readonly #budgets: Map<string, KnownBudget>
  readonly #now: () => number
  readonly #sums = new Map<string, Sums>()
  readonly #held = new Map<string, Held>()
  readonly #charged = new Map<string, number>()
  readonly #frozen = new Set<string>()
  readonly counts = { granted: 0, refused: 0, charged: 0, repeated: 0, lapsed: 0 }

  constructor(budgets: Readonly<Record<string, KnownBudget>>, now: () => number) {
    this.#budgets = new Map(Object.entries(budgets))
    this.#now = now
  }

  /** Takes note of calls that the store has answered, in their order. */
  applied(calls: readonly Call[], answers: readonly Answer[]): void {
    for (const [i, answer] of answers.entries()) {
      const call = calls[i]
      if (call === undefined || answer.kind !== 'answered') continue
      const note = this.#notes[call.operation] as ((input: unknown, result: unknown) => void) | undefined
      note?.(call.input, answer.result)
    }
  }

  readonly #notes: Partial<Calls> = {
    reserveBudget: (input, result) => {
      const id = idOf(input)
      const accounts = input.accounts.map(nameOf)
      const tokens = tokensIn(input.amounts)
      if (result.kind === 'already_reserved') this.#extend(id, input.ttlMs)
      if (result.kind === 'budget_exceeded') {
        this.counts.refused += 1
        if (!this.#isFrozen(input.accounts) && this.#shortage(accounts, tokens) === undefined)
          this.#report(`${id} was refused although there was room`)
      }
      if (result.kind !== 'budget_reserved') return
      this.counts.granted += 1
      if (this.#held.get(id)?.tokens === tokens) this.#report(`${id} was reserved twice`)
      this.#held.delete(id)
      if (this.#charged.has(id)) this.#report(`${id} was reserved after it was spent`)
      if (this.#isFrozen(input.accounts)) this.#report(`${id} was reserved although a budget is frozen`)
      // It may use the room of what has lapsed since the last comparison.
      const short = this.#shortage(accounts, tokens, this.#now())
      if (short !== undefined) this.#report(`${id} was reserved beyond the limit of ${short}`)
      this.#held.set(id, { accounts, tokens, expiresAt: this.#now() + input.ttlMs })
    },
    renewReservations: (input, { isHeld }) => {
      for (const [i, one] of input.reservations.entries()) if (isHeld[i] === true) this.#extend(idOf(one), input.ttlMs)
    },
    releaseReservation: (input, { kind }) => {
      if (kind === 'reservation_released') this.#held.delete(idOf(input))
    },
    settleReservation: (input, { kind }) => {
      this.#charge(input, kind === 'reservation_settled', kind === 'already_settled')
    },
    spendBudget: (input, { kind }) => {
      this.#charge(input, kind === 'spent', kind === 'already_spent')
    },
    raiseBudget: (input, { kind }) => {
      const sums = this.#of(nameOf(input))
      const id = `raise ${input.requestId}`
      if ((kind === 'already_raised') !== sums.requests.has(id))
        this.#report(`the raise ${id} was answered with ${kind}`)
      sums.requests.add(id)
      if (kind === 'budget_raised') sums.raised += tokensIn(input.amounts)
    },
    resetBudget: (input, { kind }) => {
      if (kind === 'budget_reset') Object.assign(this.#of(nameOf(input)), { spent: 0, raised: 0 })
    },
    defineBudget: ({ name, hard }, { kind }) => {
      const known = this.#budgets.get(name)
      if (kind === 'budget_changed' && known !== undefined) this.#budgets.set(name, { ...known, hard: tokensIn(hard) })
    },
    freezeBudget: ({ name, isFrozen }, { kind }) => {
      if (kind === 'refused') return
      if (isFrozen) this.#frozen.add(name)
      else this.#frozen.delete(name)
    },
  }

  #charge(input: OperationInput<'spendBudget'>, isNew: boolean, isRepeated: boolean): void {
    const id = idOf(input)
    const known = this.#charged.has(id)
    if (isNew && known) this.#report(`${id} was counted twice`)
    if (isRepeated && !known) this.#report(`${id} was answered as counted, and was not`)
    if (isRepeated) this.counts.repeated += 1
    if (!isNew) return
    const accounts = this.#held.get(id)?.accounts ?? input.accounts.map(nameOf)
    this.#held.delete(id)
    this.#charged.set(id, tokensIn(input.amounts))
    this.counts.charged += 1
    for (const account of accounts) this.#of(account).spent += tokensIn(input.amounts)
  }

  #extend(id: string, ttlMs: number): void {
    const held = this.#held.get(id)
    if (held === undefined) this.#report(`${id} was extended, and is not reserved`)
    else held.expiresAt = Math.max(held.expiresAt, this.#now() + ttlMs)
  }

  /** Returns the account that an amount would take beyond its limit. */
  #shortage(accounts: readonly string[], tokens: number, heldAfter = -Infinity): string | undefined {
    return accounts.find((account) => {
      const { spent, raised } = this.#of(account)
      return spent + this.#reservedOf(account, heldAfter) + tokens > this.#budgetOf(account).hard + raised
    })
  }

  #reservedOf(account: string, heldAfter = -Infinity): number {
    let sum = 0
    for (const { accounts, tokens, expiresAt } of this.#held.values())
      if (expiresAt > heldAfter && accounts.includes(account)) sum += tokens
    return sum
  }

  #isFrozen(accounts: readonly AccountRef[]): boolean {
    return accounts.some(({ name }) => this.#frozen.has(name))
  }

  #budgetOf(account: string): KnownBudget {
    const found = this.#budgets.get(account.slice(0, account.indexOf('/')))
    if (found === undefined) throw new Error(`The world has no budget of ${account}.`)
    return found
  }

  /** The sums of an account in the present period. */
  #of(account: string): Sums {
    const { everyMs } = this.#budgetOf(account)
    const period = everyMs === undefined ? 0 : Math.floor(this.#now() / everyMs)
    const found = this.#sums.get(account) ?? { spent: 0, raised: 0, period, requests: new Set() }
    this.#sums.set(account, found)
    if (found.period !== period) Object.assign(found, { spent: 0, raised: 0, period })
    return found
  }

  /** Compares with all that the store has of budgets. */
  compare(dump: PartitionDump): void {
    this.problems.push(...budgetProblems(dump))
    const stored = new Set<string>()
    for (const record of dump.records) if (record.type === 'reservation') stored.add(this.#checkHeld(record))
    for (const [id, { expiresAt }] of this.#held) {
      if (stored.has(id)) continue
      if (expiresAt > this.#now()) this.#report(`${id} has lost its reservation ${expiresAt - this.#now()} ms early`)
      this.counts.lapsed += 1
      this.#held.delete(id)
    }
    // The marks of raises count in no account.
    const charges = dump.records.filter((record) => record.type === 'charge')
    const lines = charges.filter(({ accounts }) => accounts.length > 0)
    this.#checkLedger(lines)
    for (const record of dump.records) {
      if (record.type !== 'account') continue
      const account = nameOf(record)
      const { everyMs } = this.#budgetOf(account)
      // Nothing has used it in the present period, so that it still has the sums of an earlier one.
      const isOld = everyMs !== undefined && Math.floor(record.since / everyMs) < Math.floor(this.#now() / everyMs)
      const { spent, raised } = isOld ? { spent: undefined, raised: undefined } : this.#of(account)
      if (spent !== undefined && tokensIn(record.spent) !== spent)
        this.#report(`${account} has spent ${tokensIn(record.spent)}, but calls of ${spent} were accepted`)
      if (raised !== undefined && tokensIn(record.raised) !== raised)
        this.#report(`${account} was raised by ${tokensIn(record.raised)} instead of ${raised}`)
      if (tokensIn(record.reserved) !== this.#reservedOf(account))
        this.#report(`${account} has reserved ${tokensIn(record.reserved)} instead of ${this.#reservedOf(account)}`)
    }
  }

  #checkHeld(reservation: Reservation): string {
    const id = idOf(reservation)
    const held = this.#held.get(id)
    if (held === undefined) this.#report(`${id} is reserved, and no call has reserved it`)
    else if (held.tokens !== tokensIn(reservation.amounts)) this.#report(`${id} reserves another amount`)
    return id
  }

  #checkLedger(lines: readonly Charge[]): void {
    const found = new Map(lines.map((line) => [idOf(line), tokensIn(line.amounts)]))
    for (const [id, tokens] of this.#charged)
      if (found.get(id) !== tokens)
        this.#report(`${id} is ${found.get(id) ?? 'absent'} in the ledger instead of ${tokens}`)
    for (const id of found.keys()) if (!this.#charged.has(id)) this.#report(`${id} is in the ledger without a call`)
  }

  /** Nothing runs any more. */
  atRest(dump: PartitionDump): void {
    this.compare(dump)
    for (const id of this.#held.keys()) this.#report(`${id} is still reserved after the end`)
  }

  #report(problem: string): void {
    this.problems.push(problem)
  }
}

function nameOf({ name, key }: AccountRef): string {
  return `${name}/${key}`
}

function idOf({ root, key }: { readonly root: string; readonly key: string }): string {
  return `${root} ${key}`
}

function tokensIn(amounts: Amounts): number {
  return amounts.find(({ dimension }) => dimension === 'tokens')?.value ?? 0
}
