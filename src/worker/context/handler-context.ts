/** What a handler is given. Everything that most handlers never ask for is made when it is asked for. */
import type { ProgressReport, TaskContext } from '../../client/define/context.ts'
import type { MemberFlow } from '../../client/define/member-flow.ts'
import { tagsToObject } from '../../client/checks/names.ts'
import type { Tags } from '../../client/checks/names.ts'
import type { AnyInputs } from '../../client/define/upstreams.ts'
import type { AttemptKind, ExecutionId, FlowId } from '../../kernel/index.ts'
import { errorFields } from '../../runtime/index.ts'
import type { Log, LogFields } from '../../runtime/index.ts'
import { DurableCalls } from '../steps/durable-context.ts'
import type { HeldExecution, HeldInput } from '../lease/leased-execution.ts'
import { NO_INPUTS, claimedInputs, decodeInputs, presentInputs } from './upstream-results.ts'
import { MemberCalls } from './member-flow-calls.ts'
import { ProgressReporter, parseProgress } from './progress.ts'
import { Turn } from '../steps/handler-run.ts'
import type { WaitServices } from '../steps/wait-runner.ts'

export interface ContextServices extends WaitServices {
  readonly log: Log
  /** Stores progress. Rejects when nothing more may be recorded of the execution. */
  readonly sendProgress: (held: HeldExecution, report: ProgressReport) => Promise<void>
}

const NONE: readonly never[] = []

export class HandlerContext implements TaskContext {
  /** A function of its own, so that a handler may take it out of its context. */
  readonly progress = (report: number | ProgressReport, message?: string): Promise<void> => {
    const stored = this.#report(report, message)
    // A handler that does not wait for its report must not bring the process down when that report fails.
    stored.catch((error: unknown) => this.log.warn(errorFields(error), 'progress was not stored'))
    return stored
  }
  readonly onPark = (cleanUp: () => Promise<void> | void): void => {
    this.#cleanUps = [cleanUp, ...this.#cleanUps]
  }
  readonly #held: HeldExecution
  readonly #services: ContextServices
  #tags: Tags | undefined
  #deadlineAt: number | undefined
  #log: Log | undefined
  #progress: ProgressReporter | undefined
  #inputs = NO_INPUTS
  /** Where they came from. */
  #given: readonly HeldInput[] = NONE
  #flow: MemberFlow | undefined
  #durable: DurableCalls | undefined
  #turn: Turn | undefined
  #cleanUps: readonly (() => Promise<void> | void)[] = NONE

  constructor(held: HeldExecution, services: ContextServices) {
    this.#held = held
    this.#services = services
    if (held.claimed.journal?.resumed !== undefined) this.#durableCalls.readAhead()
  }

  get executionId(): ExecutionId {
    return this.#held.id
  }

  get key(): string | undefined {
    return this.#held.claimed.key
  }

  get task(): string {
    return this.#held.claimed.task
  }

  get lane(): string {
    return this.#held.claimed.lane
  }

  get namespace(): string {
    return this.#held.claimed.namespace
  }

  get tags(): Tags {
    return (this.#tags ??= tagsToObject(this.#held.claimed.tags))
  }

  get attempt(): number {
    return this.#held.claimed.fence.attempt
  }

  get attemptKind(): AttemptKind {
    return this.#held.claimed.attemptKind
  }

  get failureCount(): number {
    return this.#held.claimed.failureCount
  }

  get idempotencyKey(): string {
    return this.#held.idempotencyKey
  }

  get flowId(): FlowId | undefined {
    return this.#held.claimed.flowId
  }

  get node(): string | undefined {
    return this.#held.claimed.node
  }

  get inputs(): AnyInputs {
    return this.#inputs
  }

  get flow(): MemberFlow {
    return (this.#flow ??= new MemberCalls(this.#held, this.#services, this.#ownTurn, {
      log: this.log,
      isGiven: (name, upstreamId) => this.#given.findLast((input) => input.name === name)?.upstreamId === upstreamId,
      inputsWith: (names) => this.#inputsWith(names),
    }))
  }

  get step(): TaskContext['step'] {
    return this.#durableCalls.step
  }

  get sleep(): TaskContext['sleep'] {
    return this.#durableCalls.sleep
  }

  get waitFor(): TaskContext['waitFor'] {
    return this.#durableCalls.waitFor
  }

  get waitpoint(): TaskContext['waitpoint'] {
    return this.#durableCalls.waitpoint
  }

  get now(): TaskContext['now'] {
    return this.#durableCalls.now
  }

  get random(): TaskContext['random'] {
    return this.#durableCalls.random
  }

  get signal(): AbortSignal {
    return this.#held.signal
  }

  get deadlineAt(): number | undefined {
    if (this.#held.endsAt === Infinity) return undefined
    const { runtime } = this.#services
    return (this.#deadlineAt ??= Math.round(runtime.now() + this.#held.endsAt - runtime.monotonic()))
  }

  get log(): Log {
    return (this.#log ??= logOf(this.#held, this.#services.log))
  }

  /** Whether the handler has to wait for its inputs. */
  get hasInputs(): boolean {
    const { inputs, claimed, task } = this.#held
    return inputs.length > 0 || claimed.inputsFrom !== undefined || task.handler.task.inputSchemas !== undefined
  }

  /** Undefined if they are all at hand. */
  loadInputs(): Promise<void> | undefined {
    const { inputs, claimed } = this.#held
    return claimed.inputsFrom === undefined ? this.#accept(inputs) : this.#loadRest(claimed.inputsFrom)
  }

  async #loadRest(behind: ExecutionId): Promise<void> {
    await this.#accept(await claimedInputs(this.#services, this.#held, behind))
  }

  /** What was said is answered before anything else is. Undefined if there is nothing to wait for. */
  settleCalls(): Promise<void> | undefined {
    return this.#turn === undefined ? this.#progress?.settle() : this.#turn.close()
  }

  /** Closes what the handler has opened in a run that ended by being parked. */
  async cleanUp(): Promise<void> {
    for (const cleanUp of this.#cleanUps) {
      try {
        await cleanUp()
      } catch (error) {
        this.log.warn(errorFields(error), 'cleaning up behind a parked handler failed')
      }
    }
  }

  get #ownTurn(): Turn {
    return (this.#turn ??= new Turn(this.#held, this.#services, () => this.#progress?.settle()))
  }

  get #durableCalls(): DurableCalls {
    return (this.#durable ??= new DurableCalls(this.#held, this.#services, this.#ownTurn))
  }

  /** What was awaited after the claim is not among what the claim brought. */
  async #inputsWith(names: ReadonlySet<string>): Promise<AnyInputs> {
    const isComplete = [...names].every((name) => Object.hasOwn(this.#inputs, name))
    if (!isComplete) await this.#accept(await presentInputs(this.#services, this.#held))
    return this.#inputs
  }

  /** A promise only if schemas have to be asked. */
  #accept(inputs: readonly HeldInput[]): Promise<void> | undefined {
    const decoded = decodeInputs(inputs, this.#held.task.handler.task.inputSchemas)
    if (decoded instanceof Promise) return decoded.then((values) => this.#give(inputs, values))
    this.#give(inputs, decoded)
    return undefined
  }

  #give(inputs: readonly HeldInput[], values: AnyInputs): void {
    this.#inputs = values
    this.#given = inputs
  }

  async #report(report: number | ProgressReport, message: string | undefined): Promise<void> {
    const parsed = parseProgress(report, message)
    this.#progress ??= new ProgressReporter((merged) => this.#services.sendProgress(this.#held, merged))
    await this.#progress.report(parsed)
  }
}

function logOf(held: HeldExecution, log: Log): Log {
  const { executionId, task, fence } = held.claimed
  const known: LogFields = { executionId, task, attempt: fence.attempt }
  return {
    debug: (fields, message) => log.debug({ ...known, ...fields }, message),
    info: (fields, message) => log.info({ ...known, ...fields }, message),
    warn: (fields, message) => log.warn({ ...known, ...fields }, message),
    error: (fields, message) => log.error({ ...known, ...fields }, message),
  }
}
