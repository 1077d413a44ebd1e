/**
 * `ctx.sleep`, `ctx.waitFor` and `ctx.waitpoint`: durable waits that occupy no worker. A wait that is not satisfied parks the
 * execution and ends the run of its handler; the next run reaches the same wait and reads its recorded result.
 */
import type { HandlerWaitpoint, WaitpointOptions } from '../../client/define/context.ts'
import { msUntil, parseDuration } from '../../client/define/duration.ts'
import { StepRefusedError } from '../../client/define/errors.ts'
import { invalidInput, show } from '../../client/checks/names.ts'
import { shape } from '../../options/shape.ts'
import { checkWaitpointKey } from '../../client/checks/signal-names.ts'
import { callbackAt, sleepPlan } from '../../client/define/plain-waits.ts'
import { optionalClaims } from '../../client/tokens/token-options.ts'
import type { TokenSigner } from '../../client/tokens/token.ts'
import { sleepOf } from '../../client/define/sleep-arguments.ts'
import type { SleepArguments } from '../../client/define/sleep-arguments.ts'
import { WAITABLE } from '../../client/define/waitable.ts'
import type { WaitOutcome, WaitPlan, Waitable } from '../../client/define/waitable.ts'
import { WAITPOINT_EXPIRY_MAX_MS } from '../../kernel/index.ts'
import type { Refused, Step, WaitpointView } from '../../kernel/index.ts'
import type { Reply } from '../../stores/batcher.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import type { JournalServices, StepJournal } from './step-journal.ts'
import { checkStepName } from '../../client/checks/step-names.ts'
import type { StepNames } from './step-names.ts'
import type { HandlerRun, ParkResult } from './handler-run.ts'

const waitpointOptions = shape<WaitpointOptions>()("{ expires: '1d' }", { expires: parseExpiry })

export interface WaitServices extends JournalServices {
  readonly tokens: TokenSigner
}

type WaitKind = 'wait' | 'sleep'

/** The arguments of `ctx.waitFor`: the name of the wait may be that of its signal or waitpoint. */
export type WaitArguments<Answer> = [waitable: Waitable<Answer>] | [name: string, waitable: Waitable<Answer>]

export class WaitRunner {
  readonly #leased: LeasedExecution
  readonly #services: WaitServices
  readonly #run: HandlerRun
  readonly #journal: StepJournal
  readonly #names: StepNames

  constructor(
    leased: LeasedExecution,
    services: WaitServices,
    run: HandlerRun,
    journal: StepJournal,
    names: StepNames,
  ) {
    this.#leased = leased
    this.#services = services
    this.#run = run
    this.#journal = journal
    this.#names = names
  }

  async sleep(givenName: string, duration: unknown): Promise<void> {
    const name = this.#names.next('sleep', checkStepName(givenName))
    const plan = sleepPlan(parseDuration(duration, 'duration'))
    await this.#awaitEnd('sleep', name, () => plan)
  }

  async sleepUntil(...given: SleepArguments): Promise<void> {
    const [givenName, date] = sleepOf(given)
    const waitMs = msUntil(date, this.#services.runtime.now(), 'date')
    await this.sleep(givenName, Math.max(0, waitMs))
  }

  async waitFor<Answer>(...given: WaitArguments<Answer>): Promise<Answer> {
    const [givenName, waitable] = given.length === 1 ? [undefined, given[0]] : given
    const { plan, answer, name: ownName } = checkWaitable(waitable, givenName)[WAITABLE]
    const name = this.#names.next('wait', checkStepName(givenName ?? ownName ?? refuseUnnamed()))
    const step = await this.#awaitEnd('wait', name, () => plan(name))
    return await this.#run.call(async () => await answer(await this.#outcomeOf(step)))
  }

  async waitpoint(givenName: string, options: WaitpointOptions = {}): Promise<HandlerWaitpoint> {
    const key = checkWaitpointKey(givenName, 'key')
    const { expires: expiresInMs } = waitpointOptions(options)
    this.#run.throwIfStopping()
    return asWaitpoint(this.#leased, this.#services.tokens, await this.#run.call(() => this.#open(key, expiresInMs)))
  }

  async #open(target: string, expiresInMs: number | undefined): Promise<WaitpointView> {
    const { id: executionId, partition, claimed } = this.#leased
    const { batcher } = this.#services
    const input = { executionId, fence: claimed.fence, target, expiresInMs, ...this.#signing() }
    const call = () => batcher.run(partition, 'createWaitpoint', input)
    const { result } = await retryUntilAnswered(this.#services, this.#leased, call)
    if (result.kind === 'refused') throw this.#refusalOf(target, result)
    return result.waitpoint
  }

  /** What tokens of a waitpoint depend on, if the call opens one. */
  #signing(): { readonly keyId: string | undefined; readonly nonce: string } {
    const { tokens, runtime } = this.#services
    return { keyId: tokens.keyId, nonce: runtime.uuid() }
  }

  /** Resolves with the ended wait, or parks the execution and never settles. */
  async #awaitEnd(kind: WaitKind, name: string, planOf: () => WaitPlan): Promise<Step> {
    this.#run.throwIfStopping()
    const { mustUnwind } = this.#run
    const found = await this.#run.call(() => this.#journal.find(kind, name))
    if (found?.isFinal === true) return found.step
    this.#run.throwToUnwind(mustUnwind)
    // A handler that returns at this moment ends without parking.
    await this.#run.yieldToEventLoop()
    const { id: executionId, partition, claimed } = this.#leased
    const { batcher } = this.#services
    const { opens, ...plan } = planOf()
    const input = { executionId, fence: claimed.fence, stepKind: kind, name, ...plan, opens, ...this.#signing() }
    return await this.#run.park(
      () => batcher.run(partition, 'suspendExecution', input),
      (reply) => this.#readSuspended(name, reply),
    )
  }

  #readSuspended(name: string, { result }: Reply<'suspendExecution'>): ParkResult<Step> {
    switch (result.kind) {
      case 'answered':
        return { answer: result.step }
      case 'suspended':
      case 'already_suspended':
        return { earlyExit: 'parked' }
      case 'cancelled':
      case 'already_cancelled':
        return { earlyExit: 'cancelled' }
      case 'refused':
        throw this.#refusalOf(name, result)
    }
  }

  async #outcomeOf({ name, state, wait }: Step): Promise<WaitOutcome> {
    if (state.phase !== 'closed' || state.how === 'ended') {
      throw new EngineError('corruption', { step: name, message: `The record of wait '${name}' has no end.` })
    }
    const { how, by, reason, at } = state
    const signals = await this.#journal.signals(wait?.satisfiers ?? [])
    return { how, by, reason, at, signals, asks: wait?.asks }
  }

  #refusalOf(step: string, refused: Refused): EngineError {
    const { code, detail } = this.#run.refusalOf(refused)
    const { waitpoint } = detail
    const message = waitpoint === undefined ? `Refused for '${step}'.` : `'${step}' waits at '${waitpoint}'.`
    return this.#leased.refusal ?? new StepRefusedError(code, { ...detail, step, message })
  }
}

function checkWaitable<Answer>(waitable: Waitable<Answer>, name: string | undefined): Waitable<Answer> {
  const given: unknown = waitable
  if (typeof given === 'object' && given !== null && WAITABLE in given) return waitable
  throw invalidInput(
    'waitable',
    `The waitable${name === undefined ? '' : ` of '${name}'`} is ${show(given)}, but must be made by signal(…), approval(…), when or ctx.waitpoint(…).`,
  )
}

function refuseUnnamed(): never {
  throw invalidInput(
    'name',
    "This wait has no name of its own: pass one first, such as ctx.waitFor('review', approval({ need: 2 })). Only a signal, a waitpoint, and an approval `on` one have a name.",
  )
}

function parseExpiry(expires: unknown, field: string): number {
  const ms = parseDuration(expires, field, 1)
  if (ms <= WAITPOINT_EXPIRY_MAX_MS) return ms
  throw invalidInput(field, `${field} is ${ms} ms, but must be at most ${WAITPOINT_EXPIRY_MAX_MS} ms.`)
}

function asWaitpoint(leased: LeasedExecution, tokens: TokenSigner, view: WaitpointView): HandlerWaitpoint {
  const { target, waitpointId, generation, keyId, nonce, createdAt: openedAt, isOpen, expiresAt } = view
  return {
    key: target,
    id: waitpointId,
    generation,
    isOpen,
    expiresAt,
    token: (options = {}) => {
      const claims = { executionId: leased.id, waitpointId, target, generation, openedAt, keyId, nonce }
      return tokens.issue({ ...claims, ...optionalClaims(options, openedAt) })
    },
    ...callbackAt(target),
  }
}
