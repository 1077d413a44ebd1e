/** The calls of a handler context that start children and wait for them. */
import { invalidInput, show } from '../../client/checks/names.ts'
import { checkStepName } from '../../client/checks/step-names.ts'
import type { ChildCalls, ChildHandle, ChildOutcome, ChildWinner, DetachedChild } from '../../client/define/children.ts'
import { ChildrenFailedError, StepRefusedError } from '../../client/define/errors.ts'
import type { ChildFailedError } from '../../client/define/errors.ts'
import { inheritedRefs } from '../../client/define/budget.ts'
import { checkTask } from '../../client/define/task.ts'
import { prepareSubmit, resolveDelay } from '../../client/executions/submit.ts'
import type { PreparedSubmit, SubmitOptions } from '../../client/executions/submit.ts'
import { declaredLimitsOf } from '../../client/limits/declared-limits.ts'
import { childIdOf } from '../../client/transport/ids.ts'
import type { Join } from '../../kernel/index.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import { beginCall } from '../steps/durable-call.ts'
import type { HandlerRun } from '../steps/handler-run.ts'
import type { JournalServices, RecordedStep, StepJournal } from '../steps/step-journal.ts'
import type { StepNames } from '../steps/step-names.ts'
import { callOptions, checkChildren, checkNeed, losersOf, spawnOptions } from './child-options.ts'
import { outcomeOf } from './child-outcome.ts'
import { ChildStarter } from './child-starter.ts'
import type { JoinInput } from './child-starter.ts'
import { ChildWaiter } from './child-waiter.ts'
import { KnownChild } from './known-child.ts'
import type { ChildRecord } from './known-child.ts'

export interface ChildJournal {
  readonly journal: StepJournal
  readonly names: StepNames
}

interface WaitPlan {
  readonly children: readonly unknown[]
  readonly rule: Omit<JoinInput, 'name' | 'total'>
  /** Builds what the handler gets. */
  readonly answer: (join: Join, children: readonly KnownChild[]) => Promise<unknown>
}

export class ChildContext implements ChildCalls {
  readonly #leased: LeasedExecution
  readonly #services: JournalServices
  readonly #run: HandlerRun
  readonly #journal: StepJournal
  readonly #names: StepNames
  readonly #starter: ChildStarter
  readonly #waiter: ChildWaiter
  /** Children by their handles, and by the promises of their handles. */
  readonly #known = new WeakMap<object, KnownChild>()

  constructor(leased: LeasedExecution, services: JournalServices, run: HandlerRun, { journal, names }: ChildJournal) {
    this.#leased = leased
    this.#services = services
    this.#run = run
    this.#journal = journal
    this.#names = names
    this.#starter = new ChildStarter(leased, services, run)
    this.#waiter = new ChildWaiter(leased, services, run, journal, this.#starter)
  }

  /** Bound functions, so that handlers can destructure the context. */
  readonly call: ChildCalls['call'] = <Output>(name: string, task: unknown, input?: unknown, options: unknown = {}) =>
    beginCall(this.#run, 'call', async () => {
      const settings = callOptions(options)
      const child = this.#plan(name, task, false)
      // The wait throws the error of a start that fails.
      this.#start(child, input, settings).catch(() => undefined)
      return (await this.#resultOf(child)) as Output
    })

  readonly spawn: ChildCalls['spawn'] = (name: string, task: unknown, input?: unknown, options: unknown = {}) => {
    let child: KnownChild | undefined
    const handle = beginCall(this.#run, 'spawn', async () => {
      const { detached = false, ...settings } = spawnOptions(options)
      child = this.#plan(name, task, detached)
      return this.#handleOf(child, await this.#start(child, input, settings))
    })
    if (child !== undefined) this.#known.set(handle, child)
    // eslint-disable-next-line @typescript-eslint/no-unsafe-return, @typescript-eslint/no-explicit-any -- typed by its overloads
    return handle as any
  }

  readonly all: ChildCalls['all'] = <Answer>(...parts: readonly unknown[]) =>
    this.#wait<Answer>('all', parts, ([children, options]) => ({
      children: checkChildren(children),
      rule: { policy: 'all', need: 0, losers: losersOf(options) },
      answer: (join, joined) => this.#resultsOf(join, joined),
    }))

  readonly settled: ChildCalls['settled'] = <Answer>(...parts: readonly unknown[]) =>
    this.#wait<Answer>('settled', parts, ([children]) => ({
      children: checkChildren(children),
      rule: { policy: 'settled', need: 0, losers: 'let_run' },
      answer: (_, joined) => this.#outcomesOf(joined),
    }))

  readonly any: ChildCalls['any'] = <Answer>(...parts: readonly unknown[]) =>
    this.#wait<Answer>('any', parts, ([given, options]) => {
      const children = checkChildren(given)
      return {
        children,
        rule: { policy: 'quorum', need: checkNeed(1, children.length), losers: losersOf(options) },
        answer: async (join, joined) => (await this.#winnersOf(join, joined))[0],
      }
    })

  readonly quorum: ChildCalls['quorum'] = <Answer>(...parts: readonly unknown[]) =>
    this.#wait<Answer>('quorum', parts, ([need, given, options]) => {
      const children = checkChildren(given)
      return {
        children,
        rule: { policy: 'quorum', need: checkNeed(need, children.length), losers: losersOf(options) },
        answer: (join, joined) => this.#winnersOf(join, joined),
      }
    })

  /** Numbers the name first, so that numbers follow the order of the calls. */
  #plan(given: string, task: unknown, isDetached: boolean): KnownChild {
    const givenName = checkStepName(given)
    const name = this.#names.next('child', givenName)
    this.#run.throwIfStopping()
    return new KnownChild({ givenName, name, task: checkTask(task), isDetached })
  }

  /** Resolves once the child is recorded. */
  async #start(child: KnownChild, input: unknown, options: SubmitOptions): Promise<ChildRecord> {
    const { mustUnwind } = this.#run
    try {
      await this.#run.call(async () => {
        const found = await this.#journal.find('child', child.plan.name)
        if (found !== undefined && this.#isCurrent(found, mustUnwind)) {
          child.read(found.step, found.value)
          return
        }
        this.#run.throwToUnwind(mustUnwind)
        await this.#starter.start({ child, submit: await this.#prepare(child, input, options) })
      }, child)
    } catch (error) {
      child.fail(error)
    }
    return await child.recorded
  }

  /** Whether a recorded child is the one that this run asks for. A retry takes over open children, and starts failed ones anew. */
  #isCurrent({ step, isFinal }: RecordedStep, mustUnwind: boolean): boolean {
    if (step.state.phase !== 'open') return isFinal
    return mustUnwind || step.child?.round === (this.#leased.claimed.journal?.round ?? 0)
  }

  async #prepare({ plan }: KnownChild, input: unknown, options: SubmitOptions): Promise<PreparedSubmit> {
    const { batcher, runtime } = this.#services
    const { id, claimed } = this.#leased
    const { createdAt, run, journal } = claimed
    const start = [createdAt, run, journal?.era ?? 0, journal?.round ?? 0].join('.')
    const ids = { executionId: childIdOf(id, start, plan.name), requestId: undefined }
    const { indexedTags } = batcher.store.settings
    const limits = declaredLimitsOf(batcher, runtime)
    const inherited = inheritedRefs(claimed.budgets)
    const { namespace } = claimed
    const trace = batcher.tracing.current()
    const setting = { namespace, indexedTags, limits, inherited, trace, codec: batcher.codec }
    try {
      const item = { task: plan.task, input, options: resolveDelay(options, runtime.now()) }
      return await prepareSubmit(item, ids, setting)
    } catch (error) {
      if (!(error instanceof EngineError) || error.isRetryable) throw error
      // The same input is refused again, so a retry is pointless.
      const message = `Child '${plan.name}': ${error.detail.message ?? 'rejected input.'}`
      throw new StepRefusedError(error.code, { ...error.detail, step: plan.name, message }, { cause: error })
    }
  }

  #handleOf(child: KnownChild, { id }: ChildRecord): ChildHandle | DetachedChild {
    const { name, isDetached } = child.plan
    const result = () => beginCall(this.#run, 'spawn(…).result', () => this.#resultOf(child))
    const handle = isDetached ? { id, name } : { id, name, result }
    this.#known.set(handle, child)
    return handle
  }

  /** Waits for one child. The name of the wait is that of the child. */
  async #resultOf(child: KnownChild): Promise<unknown> {
    const name = this.#names.next('join', child.plan.givenName)
    await this.#waiter.wait({ input: { name, policy: 'all', need: 0, losers: 'let_run', total: 1 }, children: [child] })
    await this.#waiter.readEnds([child])
    const outcome = await outcomeOf(this.#leased, child)
    if (outcome.ok) return outcome.value
    throw outcome.error
  }

  #wait<Answer>(verb: string, parts: readonly unknown[], planOf: (rest: readonly unknown[]) => WaitPlan) {
    return beginCall(this.#run, verb, async () => {
      const [first, ...others] = parts
      const [givenName, rest] = typeof first === 'string' ? [checkStepName(first), others] : [verb, parts]
      const name = this.#names.next('join', givenName)
      const { children, rule, answer } = planOf(rest)
      const joined = await this.#childrenOf(children)
      if (new Set(joined).size < joined.length)
        throw invalidInput('children', `A child of '${name}' is in its list twice.`)
      if (joined.length === 0) return [] as Answer
      const join = await this.#waiter.wait({ input: { name, ...rule, total: joined.length }, children: joined })
      return (await answer(join, joined)) as Answer
    })
  }

  /** Children that were started in this turn are known without waiting, so that the wait for them is sent with their starts. */
  async #childrenOf(given: readonly unknown[]): Promise<KnownChild[]> {
    const children: KnownChild[] = []
    for (const [i, each] of given.entries()) {
      const child = this.#childOf(each, i)
      children.push(child instanceof KnownChild ? child : await child)
    }
    return children
  }

  /** Returns the child of a handle, or of the promise of one. Promises that wrap that of `ctx.spawn` are awaited. */
  #childOf(given: unknown, position: number): KnownChild | Promise<KnownChild> {
    const known = isObject(given) ? this.#known.get(given) : undefined
    if (known?.plan.isDetached === true) {
      throw invalidInput('children', `The child '${known.plan.name}' is detached: its parent cannot wait for it.`)
    }
    if (known !== undefined) return known
    if (isObject(given) && 'then' in given && typeof given.then === 'function') {
      return Promise.resolve(given as PromiseLike<unknown>).then((handle) => {
        const child = isObject(handle) ? this.#known.get(handle) : undefined
        return child === undefined ? this.#refuse(handle, position) : this.#childOf(handle, position)
      })
    }
    return this.#refuse(given, position)
  }

  #refuse(given: unknown, position: number): never {
    throw invalidInput(
      'children',
      `children[${position}] is ${show(given)}, but must be a child that ctx.spawn of this run has returned.`,
    )
  }

  async #resultsOf({ verdict, firstFailed }: Join, children: readonly KnownChild[]): Promise<unknown[]> {
    const failed = verdict === 'impossible' ? children[firstFailed ?? 0] : undefined
    const outcomes = await this.#outcomesOf(failed === undefined ? children : [failed])
    return outcomes.map((outcome) => {
      if (outcome.ok) return outcome.value
      throw outcome.error
    })
  }

  async #winnersOf({ verdict, winners }: Join, children: readonly KnownChild[]): Promise<ChildWinner[]> {
    if (verdict === 'impossible') throw await this.#failureOf(children)
    const won = winners.flatMap((index) => children[index] ?? [])
    const outcomes = await this.#outcomesOf(won)
    return outcomes.map((outcome, i) => {
      if (!outcome.ok) throw outcome.error
      return { index: winners[i] ?? -1, name: won[i]?.plan.name ?? '', value: outcome.value }
    })
  }

  async #failureOf(children: readonly KnownChild[]): Promise<ChildrenFailedError> {
    await this.#waiter.readEnds(children)
    const errors: ChildFailedError[] = []
    for (const child of children) {
      const outcome = child.ended === undefined ? undefined : await outcomeOf(this.#leased, child)
      if (outcome?.ok === false) errors.push(outcome.error)
    }
    return new ChildrenFailedError(errors, `${errors.length} of ${children.length} children failed.`)
  }

  async #outcomesOf(children: readonly KnownChild[]): Promise<ChildOutcome<unknown>[]> {
    await this.#waiter.readEnds(children)
    const outcomes: ChildOutcome<unknown>[] = []
    for (const child of children) outcomes.push(await outcomeOf(this.#leased, child))
    return outcomes
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
