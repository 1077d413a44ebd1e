/** The context that is passed to a handler. Its rarely used parts are created lazily. */
import type { ProgressReport, TaskContext } from '../../client/define/context.ts'
import type { MemberFlow } from '../../client/define/member-flow.ts'
import { tagsToObject } from '../../client/checks/names.ts'
import type { Tags } from '../../client/checks/names.ts'
import type { AnyInputs } from '../../client/define/upstreams.ts'
import type { LogLineLevel } from '../../client/streams/log-line.ts'
import type { AttemptKind, ExecutionId, FlowId } from '../../kernel/index.ts'
import { errorFields } from '../../runtime/index.ts'
import type { Log, LogFields } from '../../runtime/index.ts'
import { BudgetContext } from '../budgets/budget-context.ts'
import { ChildContext } from '../children/child-context.ts'
import type { Compensations } from '../steps/compensations.ts'
import { DurableContext } from '../steps/durable-context.ts'
import type { LeasedExecution, UpstreamResult } from '../lease/leased-execution.ts'
import { NO_INPUTS, readRemainingInputs, decodeInputs, readCurrentInputs } from './upstream-results.ts'
import { MemberFlowCalls } from './member-flow-calls.ts'
import type { FlowConditions } from './flow-conditions.ts'
import { holdKey } from './hold-key.ts'
import { ProgressReporter, parseProgress } from './progress.ts'
import type { Permits } from '../permits/permits.ts'
import { LogWriter } from '../streams/log-writer.ts'
import type { LogServices } from '../streams/log-writer.ts'
import { StreamContext } from '../streams/stream-context.ts'
import type { StepStreams } from '../steps/step-try.ts'
import { HandlerRun } from '../steps/handler-run.ts'
import type { WaitServices } from '../steps/wait-runner.ts'

export interface ContextServices extends WaitServices, LogServices {
  readonly conditions: FlowConditions
  readonly permits: Pick<Permits, 'hold'>
  /** Stores progress. Rejects once the execution is refused. */
  readonly sendProgress: (leased: LeasedExecution, report: ProgressReport) => Promise<void>
}

const NONE: readonly never[] = []

export class HandlerContext implements TaskContext {
  /** A bound function, so that handlers can destructure the context. */
  readonly progress = (report: number | ProgressReport, message?: string): Promise<void> => {
    const stored = this.#report(report, message)
    // Prevents an unhandled rejection if the handler does not await its report.
    stored.catch((error: unknown) =>
      this.log.warn(errorFields(error), 'could not store a progress report; the handler continues'),
    )
    return stored
  }
  readonly onPark = (cleanUp: () => Promise<void> | void): void => {
    this.#parkCallbacks = [cleanUp, ...this.#parkCallbacks]
  }
  readonly #leased: LeasedExecution
  readonly #services: ContextServices
  #tags: Tags | undefined
  #deadlineAt: number | undefined
  #log: Log | undefined
  #progress: ProgressReporter | undefined
  #inputs = NO_INPUTS
  /** The upstream results that `#inputs` was decoded from. */
  #inputSources: readonly UpstreamResult[] = NONE
  #flow: MemberFlow | undefined
  #durable: DurableContext | undefined
  #children: ChildContext | undefined
  #run: HandlerRun | undefined
  #streams: StreamContext | undefined
  #budgets: BudgetContext | undefined
  #ofSteps: StepStreams | undefined
  #parkCallbacks: readonly (() => Promise<void> | void)[] = NONE

  constructor(leased: LeasedExecution, services: ContextServices) {
    this.#leased = leased
    this.#services = services
    if (leased.claimed.journal?.resumed !== undefined) this.#durableContext.readAhead()
  }

  get executionId(): ExecutionId {
    return this.#leased.id
  }

  get key(): string | undefined {
    return this.#leased.claimed.key
  }

  get task(): string {
    return this.#leased.claimed.task
  }

  get version(): number | undefined {
    return this.#leased.claimed.version
  }

  get lane(): string {
    return this.#leased.claimed.lane
  }

  get namespace(): string {
    return this.#leased.claimed.namespace
  }

  get tags(): Tags {
    return (this.#tags ??= tagsToObject(this.#leased.claimed.tags))
  }

  get attempt(): number {
    return this.#leased.claimed.fence.attempt
  }

  get attemptKind(): AttemptKind {
    return this.#leased.claimed.attemptKind
  }

  get failureCount(): number {
    return this.#leased.claimed.failureCount
  }

  get idempotencyKey(): string {
    return this.#leased.idempotencyKey
  }

  get flowId(): FlowId | undefined {
    return this.#leased.claimed.flowId
  }

  get node(): string | undefined {
    return this.#leased.claimed.node
  }

  get frames(): TaskContext['frames'] {
    return this.streams.frames
  }

  get summary(): TaskContext['summary'] {
    return this.streams.summary
  }

  get inbox(): TaskContext['inbox'] {
    return this.streams.inbox
  }

  /** Also the frames and the summary of steps. */
  get streams(): StreamContext {
    return (this.#streams ??= new StreamContext(this.#leased, this.#services, this.#handlerRun))
  }

  /** The error that has kept frames from being stored. */
  get streamFailure(): Error | undefined {
    return this.#streams?.writer.failure
  }

  get inputs(): AnyInputs {
    return this.#inputs
  }

  get flow(): MemberFlow {
    return (this.#flow ??= new MemberFlowCalls(this.#leased, this.#services, this.#handlerRun, {
      log: this.log,
      givenOutcome: (name, upstreamId) => {
        const source = this.#inputSources.findLast((input) => input.name === name)
        return source?.upstreamId === upstreamId ? (source.end?.outcome ?? 'completed') : undefined
      },
      inputsIncluding: (names) => this.#inputsIncluding(names),
    }))
  }

  get step(): TaskContext['step'] {
    return this.#durableContext.step
  }

  get sleep(): TaskContext['sleep'] {
    return this.#durableContext.sleep
  }

  get sleepUntil(): TaskContext['sleepUntil'] {
    return this.#durableContext.sleepUntil
  }

  get waitFor(): TaskContext['waitFor'] {
    return this.#durableContext.waitFor
  }

  get waitpoint(): TaskContext['waitpoint'] {
    return this.#durableContext.waitpoint
  }

  get call(): TaskContext['call'] {
    return this.#childContext.call
  }

  get spawn(): TaskContext['spawn'] {
    return this.#childContext.spawn
  }

  get all(): TaskContext['all'] {
    return this.#childContext.all
  }

  get settled(): TaskContext['settled'] {
    return this.#childContext.settled
  }

  get any(): TaskContext['any'] {
    return this.#childContext.any
  }

  get quorum(): TaskContext['quorum'] {
    return this.#childContext.quorum
  }

  get now(): TaskContext['now'] {
    return this.#durableContext.now
  }

  get random(): TaskContext['random'] {
    return this.#durableContext.random
  }

  get compensate(): TaskContext['compensate'] {
    return this.#durableContext.compensate
  }

  get limited(): TaskContext['limited'] {
    return (limit, options) => {
      const held = holdKey(this.#leased, this.#services, limit, options)
      // Prevents an unhandled rejection if the handler does not await the call.
      held.catch(() => undefined)
      return held
    }
  }

  get spend(): TaskContext['spend'] {
    return this.#budgetContext.spend
  }

  get reserve(): TaskContext['reserve'] {
    return this.#budgetContext.reserve
  }

  get signal(): AbortSignal {
    return this.#leased.handlerSignal
  }

  get deadlineAt(): number | undefined {
    if (this.#leased.endsAt === Infinity) return undefined
    const { runtime } = this.#services
    return (this.#deadlineAt ??= Math.round(runtime.now() + this.#leased.endsAt - runtime.monotonic()))
  }

  get log(): Log {
    return (this.#log ??= logOf(this.#leased, this.#services))
  }

  /** Whether inputs must be loaded or validated before the handler starts. */
  get hasInputs(): boolean {
    const { inputs, claimed, task } = this.#leased
    return inputs.length > 0 || claimed.inputsFrom !== undefined || task.handler.task.inputSchemas !== undefined
  }

  /** Returns undefined if all inputs are available synchronously. */
  loadInputs(): Promise<void> | undefined {
    const { inputs, claimed } = this.#leased
    return claimed.inputsFrom === undefined ? this.#accept(inputs) : this.#loadRest(claimed.inputsFrom)
  }

  /** Whether the condition of the node is met. Undefined without a condition. Call after the inputs are loaded. */
  meetsCondition(): Promise<boolean> | undefined {
    if (this.#leased.claimed.condition === undefined) return undefined
    return this.#services.conditions.isMet(this.#leased, this.#inputs)
  }

  async #loadRest(behind: ExecutionId): Promise<void> {
    await this.#accept(await readRemainingInputs(this.#services, this.#leased, behind))
  }

  /** Waits for pending calls of the handler. Returns undefined if there are none. */
  finishCalls(): Promise<void> | undefined {
    const calls = this.#run === undefined ? this.#progress?.flush() : this.#run.close()
    const released = this.#budgets?.close()
    return released === undefined ? calls : released.then(() => calls)
  }

  /** The compensations that this run has registered. */
  get compensations(): Compensations {
    return this.#durableContext.compensations
  }

  /** Whether this run or an earlier one has registered compensations. */
  get hasCompensations(): boolean {
    return (this.#leased.claimed.journal?.compensationCount ?? 0) > 0 || (this.#durable?.compensations.count ?? 0) > 0
  }

  get services(): ContextServices {
    return this.#services
  }

  /** Runs the `onPark` callbacks, the last registered first. */
  async runParkCallbacks(): Promise<void> {
    for (const cleanUp of this.#parkCallbacks) {
      try {
        await cleanUp()
      } catch (error) {
        this.log.warn(errorFields(error), 'onPark callback failed; continuing with the next one')
      }
    }
  }

  get #handlerRun(): HandlerRun {
    return (this.#run ??= new HandlerRun(this.#leased, this.#services, {
      flushProgress: () => this.#progress?.flush(),
      storeFrames: () => this.#streams?.writer.storePending(),
    }))
  }

  get #durableContext(): DurableContext {
    return (this.#durable ??= new DurableContext(this.#leased, this.#services, this.#handlerRun, () => this.#stepCalls))
  }

  /** What steps may call besides their handler. */
  get #stepCalls(): StepStreams {
    return (this.#ofSteps ??= new StepCalls(this, () => this.#budgetContext))
  }

  get #budgetContext(): BudgetContext {
    const durable = this.#durableContext
    return (this.#budgets ??= new BudgetContext(this.#leased, this.#services, this.#handlerRun, durable.waitFor))
  }

  get #childContext(): ChildContext {
    return (this.#children ??= new ChildContext(this.#leased, this.#services, this.#handlerRun, this.#durableContext))
  }

  /** Reads the inputs again if results awaited after the claim are missing. */
  async #inputsIncluding(names: ReadonlySet<string>): Promise<AnyInputs> {
    const isComplete = [...names].every((name) => Object.hasOwn(this.#inputs, name))
    if (!isComplete) await this.#accept(await readCurrentInputs(this.#services, this.#leased))
    return this.#inputs
  }

  /** Returns a promise only if there are schemas to validate with. */
  #accept(inputs: readonly UpstreamResult[]): Promise<void> | undefined {
    const decoded = decodeInputs(inputs, this.#leased.task.handler.task.inputSchemas)
    if (decoded instanceof Promise) return decoded.then((values) => this.#give(inputs, values))
    this.#give(inputs, decoded)
    return undefined
  }

  #give(inputs: readonly UpstreamResult[], values: AnyInputs): void {
    this.#inputs = values
    this.#inputSources = inputs
  }

  async #report(report: number | ProgressReport, message: string | undefined): Promise<void> {
    const parsed = parseProgress(report, message)
    this.#progress ??= new ProgressReporter((merged) => this.#services.sendProgress(this.#leased, merged))
    await this.#progress.report(parsed)
  }
}

/** The streams and the budgets of the steps of a handler, each created on first use. */
class StepCalls implements StepStreams {
  readonly #context: HandlerContext
  readonly #budgets: () => BudgetContext

  constructor(context: HandlerContext, budgets: () => BudgetContext) {
    this.#context = context
    this.#budgets = budgets
  }

  get frames(): StepStreams['frames'] {
    return this.#context.frames
  }

  get summary(): StepStreams['summary'] {
    return this.#context.summary
  }

  readonly budgetsOf: StepStreams['budgetsOf'] = (step) => this.#budgets().ofStep(step)
}

/** Writes the lines to the log of the worker, and keeps them with the execution. */
function logOf(leased: LeasedExecution, services: ContextServices): Log {
  const { executionId, task, fence } = leased.claimed
  const known: LogFields = { executionId, task, attempt: fence.attempt }
  const write = (level: LogLineLevel) => (fields: LogFields, message: string) => {
    services.log[level]({ ...known, ...fields }, message)
    const lines = (leased.lines ??= new LogWriter(leased, services))
    lines.add(level, fields, message, HandlerRun.currentStep(leased))
  }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
