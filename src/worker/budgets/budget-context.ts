/**
 * `ctx.spend` and `ctx.reserve`, and the same in a step. A reservation is renewed as long as the handler runs and its lease is
 * valid. A budget that asks for an approval parks the execution; the answer raises the budget, or ends the execution.
 */
import { spendingPrefixOf } from '../../client/leases/idempotency-key.ts'
import { BudgetAccount, receiptOf, shortageOf } from '../../client/budgets/budget-account.ts'
import type { BudgetOwner, Tree, TreeReceipt } from '../../client/budgets/budget-account.ts'
import { budgetQuestion, raisedBy, textOf } from '../../client/budgets/budget-question.ts'
import { checkSpending } from '../../client/define/budget.ts'
import type { BudgetReservation, SpendOptions, StepContext, TaskContext } from '../../client/define/context.ts'
import { BudgetExceededError, PermanentError } from '../../client/define/errors.ts'
import type { Waitable } from '../../client/define/waitable.ts'
import { checkKey, invalidInput } from '../../client/checks/names.ts'
import { CANCEL_GRACE_DEFAULT_MS, OPEN_RESERVATIONS, addAmounts, ownerInKey } from '../../kernel/index.ts'
import type { Amounts, ExecutionId, Overrun } from '../../kernel/index.ts'
import { shape } from '../../options/shape.ts'
import type { Timer } from '../../runtime/index.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import { beginCall } from '../steps/durable-call.ts'
import { sendAfterDelay } from '../steps/after-delay.ts'
import { StepQuestion } from '../steps/step-question.ts'
import type { HandlerRun } from '../steps/handler-run.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import type { RetryServices } from '../store/retry-until-answered.ts'
import type { Batcher } from '../../stores/batcher.ts'

/** How much longer a reservation lasts than a lease. */
const OUTLIVES_LEASE = 2
const RENEWALS_PER_TTL = 3
/** Reservations that one handler may have open. */
const OPEN_MAX = 20
/** The longest time after which postponed work asks again, if it is not woken. */
const POSTPONE_MAX_MS = 60_000
/** When work is claimed again of whose budget nothing is left. Permits of before have lapsed by then, so it waits to be woken. */
const USED_UP_MS = 1_500
const BY_BUDGET = 'budget'

const spendOptions = shape<SpendOptions>()("{ key: 'search' }", { key: checkKey })

type WaitFor = <Answer>(name: string, waitable: Waitable<Answer>) => Promise<Answer>

export interface BudgetServices extends RetryServices {
  readonly batcher: Batcher
}

export class BudgetContext {
  readonly #leased: LeasedExecution
  readonly #services: BudgetServices
  readonly #run: HandlerRun
  readonly #waitFor: WaitFor
  readonly #account: BudgetAccount
  /** Open reservations and their amounts. */
  readonly #open = new Map<string, Amounts>()
  readonly #counts = new Map<string, number>()
  /** What was wrong with the last approval, for those who are asked again. */
  #correction = ''
  #timer: Timer | undefined
  #isClosed = false

  constructor(leased: LeasedExecution, services: BudgetServices, run: HandlerRun, waitFor: WaitFor) {
    this.#leased = leased
    this.#services = services
    this.#run = run
    this.#waitFor = waitFor
    this.#account = new BudgetAccount(ownerOf(leased, services), services.batcher)
  }

  readonly spend: TaskContext['spend'] = (spending, options) =>
    beginCall(this.#run, 'spend', async () => {
      const key = this.#keyOf('spend', 'spend', options)
      const amounts = checkSpending(spending, 'spending')
      const receipts = await this.#spend(key, amounts)
      // Reported again, it learns whether the answer has raised the budget by enough.
      for (let last = receipts; await this.#asks(last);) last = await this.#spend(key, amounts)
      return receiptOf(receipts)
    })

  readonly reserve: TaskContext['reserve'] = (spending, options) =>
    beginCall(this.#run, 'reserve', async () => {
      const amounts = checkSpending(spending, 'spending')
      const name = this.#keyOf('reserve', 'reserve', options)
      for (;;) {
        const question = await this.#tryReserve(name, amounts)
        if (question === undefined) return this.#reservation(name)
        await question.ask()
      }
    })

  /** Calls without a key are numbered in their order, which is the same in every run of the handler. */
  #keyOf(call: string, verb: 'spend' | 'reserve', options: SpendOptions | undefined): string {
    const { key } = spendOptions(options ?? {})
    if (key !== undefined) return verb === 'spend' ? this.#account.keyOf(key) : this.#account.reservationKeyOf(key)
    const count = (this.#counts.get(call) ?? 0) + 1
    this.#counts.set(call, count)
    return this.#account.numberedKeyOf(call, count)
  }

  /** The calls of one try of a step. Its calls without a key are numbered, so that those of another try count, too. */
  ofStep({ name, attempt }: Pick<StepContext, 'name' | 'attempt'>): Pick<StepContext, 'spend' | 'reserve'> {
    const call = `${name}#${this.#leased.claimed.fence.epoch}.${attempt}`
    const spend: StepContext['spend'] = async (spending, options) =>
      receiptOf(await this.#spend(this.#keyOf(call, 'spend', options), checkSpending(spending, 'spending')))
    const reserve: StepContext['reserve'] = async (spending, options) => {
      const key = this.#keyOf(call, 'reserve', options)
      const question = await this.#tryReserve(key, checkSpending(spending, 'spending'))
      if (question !== undefined) throw question
      return this.#reservation(key)
    }
    return { spend: handled(spend), reserve: handled(reserve) }
  }

  /** The run has ended: what the handler has not settled is free again. Returns undefined if there is nothing to release. */
  close(): Promise<void> | undefined {
    this.#isClosed = true
    this.#timer?.cancel()
    const left = [...this.#open.keys()]
    this.#open.clear()
    if (left.length === 0) return undefined
    // What cannot be released lapses.
    return Promise.allSettled(left.map((key) => this.#account.release(key))).then(() => undefined)
  }

  async #spend(key: string, amounts: Amounts): Promise<TreeReceipt[]> {
    this.#leased.throwIfRefused()
    return await this.#account.spend(key, amounts)
  }

  /**
   * Real spending counts in any case. What it has passed decides how the handler continues. Returns whether a budget has asked. A later
   * run of the handler asks again, and finds the answer.
   */
  async #asks(receipts: readonly TreeReceipt[]): Promise<boolean> {
    let hasAsked = false
    for (const [i, { hard }] of receipts.entries()) {
      const tree = this.#account.trees[i]
      const overrun = hard.find(({ onBreach }) => onBreach === 'cancel' || onBreach === 'suspend')
      if (tree === undefined || overrun === undefined) continue
      if (overrun.onBreach === 'cancel') await this.#cancel(overrun)
      await this.#ask(tree, overrun)
      hasAsked = true
    }
    return hasAsked
  }

  /** Reserves, or returns the question that a budget asks. */
  async #tryReserve(key: string, amounts: Amounts): Promise<StepQuestion | undefined> {
    this.#leased.throwIfRefused()
    if (this.#open.size >= OPEN_MAX) {
      throw invalidInput('reserve', `The handler has ${OPEN_MAX} open reservations: settle or release some before.`)
    }
    const refused = await this.#account.reserve(key, amounts, this.#ttlMs)
    if (refused === undefined) {
      // The handler has ended without waiting for the call, so it will not settle it.
      if (this.#isClosed) await this.#account.release(key)
      else this.#open.set(key, amounts)
      this.#renewLater()
      return undefined
    }
    const { tree, overrun } = refused
    if (overrun.onBreach === 'cancel') await this.#cancel(overrun)
    // An approval cannot open what an operator has frozen, and no raise adds reservations.
    if (overrun.onBreach === 'suspend' && !overrun.isFrozen && overrun.dimension !== OPEN_RESERVATIONS) {
      return new StepQuestion(() => this.#ask(tree, overrun), textOf(overrun))
    }
    const waitsBehindGate = isGated(overrun, this.#leased.id)
    const waitMs = Math.min(overrun.resetsInMs ?? POSTPONE_MAX_MS, waitsBehindGate ? USED_UP_MS : POSTPONE_MAX_MS)
    const error = new BudgetExceededError(shortageOf(overrun), waitMs, textOf(overrun))
    // The next run of the handler reserves again what is released with this one.
    const needed = [...this.#open.values()].reduce((sum, held) => addAmounts(sum, held), amounts)
    if (!waitsBehindGate) sendAfterDelay(error, () => this.#account.awaitRoom(tree, key, needed, waitMs))
    throw error
  }

  #reservation(key: string): BudgetReservation {
    return {
      settle: handled(async (spending) => {
        const amounts = checkSpending(spending, 'spending')
        const receipts = await this.#account.settle(key, amounts)
        this.#open.delete(key)
        return receiptOf(receipts)
      }),
      release: handled(async () => {
        if (!this.#open.delete(key)) return
        await this.#account.release(key)
      }),
    }
  }

  /**
   * Waits for an approval, and raises the budget by what was approved: what was asked for unless the answer names amounts. After one that
   * is not valid the budget has as little room as before, so the caller asks again.
   */
  async #ask(tree: Tree, overrun: Overrun): Promise<void> {
    const name = `budget ${overrun.name}`
    let wait = name
    const question = budgetQuestion(overrun, this.#correction, (numbered) => (wait = numbered))
    const answered = await this.#waitFor(name, question)
    const { answer } = answered
    if (!answer.ok) throw new PermanentError(`${textOf(overrun)}: ${answer.reason}`)
    const by = answer.votes.map((vote) => vote.by.identity).join(', ')
    const amounts = raisedBy(answered)
    if (typeof amounts === 'string') {
      this.#correction = ` The approval by ${by} is not valid: ${amounts}`
      return
    }
    this.#correction = ''
    // The time of the answer is the same in every run of the handler.
    await this.#account.raise(tree, overrun, { wait, at: answer.at, amounts, by })
  }

  /** Requests the cancel of the execution. Never resolves. */
  async #cancel(overrun: Overrun): Promise<never> {
    const { id: executionId, partition } = this.#leased
    const input = {
      executionId,
      reason: textOf(overrun),
      by: BY_BUDGET,
      force: false,
      graceMs: CANCEL_GRACE_DEFAULT_MS,
    }
    await retryUntilAnswered(this.#services, this.#leased, () =>
      this.#services.batcher.run(partition, 'cancelExecution', input),
    )
    throw new PermanentError(textOf(overrun))
  }

  get #ttlMs(): number {
    return this.#leased.leaseTtlMs * OUTLIVES_LEASE
  }

  #renewLater(): void {
    if (this.#timer !== undefined || this.#isClosed) return
    const { runtime } = this.#services
    const renew = () => {
      this.#timer = undefined
      // A lost lease renews nothing: the reservations lapse.
      if (this.#isClosed || this.#open.size === 0 || this.#leased.refusal !== undefined) return
      this.#renewLater()
      void this.#account.renew([...this.#open.keys()], this.#ttlMs)
    }
    this.#timer = runtime.after(this.#leased.leaseTtlMs / RENEWALS_PER_TTL, renew, { background: true })
  }
}

/**
 * Whether the budget starts no new work, so that the execution waits behind its gate when it is claimed again. An account of its own holds
 * no execution back before it runs.
 */
function isGated({ key, spent, reserved, hard, isFrozen, dimension }: Overrun, id: ExecutionId): boolean {
  if (ownerInKey(key) === id) return false
  return isFrozen || (spent + reserved >= hard && dimension !== OPEN_RESERVATIONS)
}

/** Prevents an unhandled rejection if the handler does not await the call. */
function handled<Args extends unknown[], T>(call: (...args: Args) => Promise<T>): (...args: Args) => Promise<T> {
  return (...args) => {
    const made = call(...args)
    made.catch(() => undefined)
    return made
  }
}

function ownerOf(leased: LeasedExecution, services: BudgetServices): BudgetOwner {
  const { id: executionId, claimed } = leased
  const { namespace, task, fence, budgets, journal } = claimed
  return {
    spender: { executionId, namespace, task, epoch: fence.epoch, attempt: fence.attempt },
    budgets,
    keyPrefix: spendingPrefixOf(claimed, journal?.era),
    run: (partition, call) => {
      const subject = {
        partition,
        get refusal() {
          return leased.refusal
        },
      }
      return retryUntilAnswered(services, subject, call)
    },
    report: (partition, call) => retryUntilAnswered(services, { partition, refusal: undefined }, call),
  }
}
