/** The part of a client that speaks with waiting executions: signals, waitpoints and steps. Refusals are thrown. */
import { EngineError } from '../../kernel/engine-error.ts'
import type { Store } from '../../stores/store.ts'
import { accept } from '../transport/accept.ts'
import type { SignalReceipt } from '../executions/execution-handle.ts'
import type {
  AnswerOptions,
  CloseWaitpointOptions,
  JournalCalls,
  ReissueOptions,
  ResumeOptions,
  SignalAtOptions,
  SignalSendOptions,
} from './journal-calls.ts'
import { readSignals, readSteps } from '../lists/step-listing.ts'
import type { ReadOptions, SignalSummary, StepSummary } from '../lists/step-listing.ts'
import { listOpenWaitpoints, listWaitpointsOf } from '../lists/waitpoint-listing.ts'
import type { ExecutionWaitpointsOptions, ListWaitpointsOptions, WaitpointPage } from '../lists/waitpoint-listing.ts'

export abstract class JournalClient {
  /** @internal */
  abstract readonly store: Store
  abstract readonly try: JournalCalls
  abstract get isClosed(): boolean

  /**
   * Tells an execution something, by the signal's name. What comes before its handler waits for it is kept.
   *
   * @example
   * await fabric.signal('order:17', 'paid', { amount: 12 }, { key: event.id })
   */
  async signal(idOrKey: string, name: string, value?: unknown, options?: SignalSendOptions): Promise<SignalReceipt> {
    this.refuseIfClosed()
    return accept(await this.try.signal(idOrKey, name, value, options))
  }

  /**
   * Sends a signal to one waitpoint, without a token: whoever may use the store is trusted to say who it is from.
   *
   * @example
   * await fabric.signalAt('deploy:42', 'review', 'approve', undefined, { by: user.email })
   */
  async signalAt(
    idOrKey: string,
    waitpoint: string,
    name: string,
    value: unknown,
    options: SignalAtOptions,
  ): Promise<SignalReceipt> {
    this.refuseIfClosed()
    return accept(await this.try.signalAt(idOrKey, waitpoint, name, value, options))
  }

  /**
   * Sends a signal where a token leads: what a route does with the links that were handed out. Who it is from stands in the
   * token. Whatever is wrong with one that is not genuine, the error is `invalid_token`.
   *
   * @example
   * await fabric.answer(request.query.token, 'approve', { note: 'fine' })
   */
  async answer(token: string, name: string, value?: unknown, options?: AnswerOptions): Promise<SignalReceipt> {
    this.refuseIfClosed()
    return accept(await this.try.answer(token, name, value, options))
  }

  /** Ends the wait that an execution is in, with an operator's authority: its handler goes on and is told so. */
  async resume(idOrKey: string, options: ResumeOptions): Promise<void> {
    this.refuseIfClosed()
    accept(await this.try.resume(idOrKey, options))
  }

  /** Waitpoints that are open: all there are, longest open first, or those of one execution by their keys. Never their tokens. */
  waitpoints(options?: ListWaitpointsOptions): Promise<WaitpointPage>
  waitpoints(idOrKey: string, options?: ExecutionWaitpointsOptions): Promise<WaitpointPage>
  async waitpoints(
    first: string | ListWaitpointsOptions = {},
    options: ExecutionWaitpointsOptions = {},
  ): Promise<WaitpointPage> {
    this.refuseIfClosed()
    return typeof first === 'string'
      ? await listWaitpointsOf(this.try, first, options)
      : await listOpenWaitpoints(this.try, this.store.settings.executionPartitions, first)
  }

  /** Takes no more signals at a waitpoint. The last one that a wait still looks at is closed only by force. */
  async closeWaitpoint(
    idOrKey: string,
    waitpoint: string,
    options: CloseWaitpointOptions,
  ): Promise<'closed' | 'already_closed'> {
    this.refuseIfClosed()
    return accept(await this.try.closeWaitpoint(idOrKey, waitpoint, options)).kind
  }

  /**
   * A new token for a waitpoint. Every token that was handed out for it before, to whomever, is worthless from then on.
   *
   * @example
   * const token = await fabric.reissue('deploy:42', 'review', { for: 'ada', expires: '2d' })
   */
  async reissue(idOrKey: string, waitpoint: string, options: ReissueOptions = {}): Promise<string> {
    this.refuseIfClosed()
    const { by, ...claims } = options
    this.try.checkTokenOptions(claims)
    const { waitpoint: view } = accept(await this.try.reissueWaitpoint(idOrKey, waitpoint, by))
    return this.try.tokenFor(idOrKey, view, claims)
  }

  /** What an execution has recorded, in the order of recording. */
  steps(idOrKey: string, options: ReadOptions = {}): AsyncGenerator<StepSummary, void, undefined> {
    this.refuseIfClosed()
    return readSteps(this.try, idOrKey, options)
  }

  /** Every signal that an execution was sent, in the order of arrival: who said what, when, and what it did. */
  signals(idOrKey: string, options: ReadOptions = {}): AsyncGenerator<SignalSummary, void, undefined> {
    this.refuseIfClosed()
    return readSignals(this.try, idOrKey, options)
  }

  protected refuseIfClosed(): void {
    if (this.isClosed) throw new EngineError('fabric_closed')
  }
}
