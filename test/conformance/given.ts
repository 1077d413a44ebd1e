/** Builders: they bring an execution to where a test begins, and hide everything that the test is not about. */
import { PURGE_INDEX } from '../../src/kernel/index.ts'
import type {
  ClaimInput,
  ClaimResult,
  Claimed,
  CreateInput,
  CreateResult,
  EventType,
  ExecutionId,
  Fence,
  Outcome,
  RetryPolicy,
} from '../../src/kernel/index.ts'
import type { StoredEvent } from '../../src/stores/store.ts'
import type { Clock } from './clock.ts'
import type { TestFabric } from './fabric.ts'

export const LANE = 'main'
export const CLASS = 'greet'
export const LEASE_TTL_MS = 30_000
export const RETENTION_MS = 3_600_000
export const DELAY_MS = 60_000
const DEADLINE_MS = 10_000

/** What a test changes of an otherwise ordinary submit; `bytes` is the payload. */
export type Draft = Partial<Omit<CreateInput, 'payload'>> & { readonly bytes?: Uint8Array | undefined }

export interface Submitted {
  readonly executionId: ExecutionId
}

/** An execution in a worker's hands: spread into an operation's input, it names the execution and its fence. */
export interface Held extends Submitted {
  readonly fence: Fence
}

/** The phases that a test can bring an execution to. */
export const reachablePhases = ['eligible', 'delayed', 'active', 'ended'] as const
export type ReachablePhase = (typeof reachablePhases)[number]

export const noRetry: RetryPolicy = {
  attempts: 1,
  backoff: { kind: 'fixed', delayMs: 0 },
  jitter: false,
  onlyCategories: [],
}

/** So many attempts in all, a fixed wait between them. */
export function fixedRetry(attempts: number, delayMs: number): RetryPolicy {
  return { attempts, backoff: { kind: 'fixed', delayMs }, jitter: false, onlyCategories: [] }
}

export class Given {
  readonly #fabric: TestFabric
  readonly #clock: Clock

  constructor(fabric: TestFabric, clock: Clock) {
    this.#fabric = fabric
    this.#clock = clock
  }

  newId(): ExecutionId {
    return `0-${this.#fabric.runtime.uuid()}` as ExecutionId
  }

  requestId(): string {
    return this.#fabric.runtime.uuid()
  }

  createInput(draft: Draft = {}): CreateInput {
    const { bytes, ...changes } = draft
    return {
      executionId: this.newId(),
      requestId: this.requestId(),
      namespace: 'default',
      task: 'greet',
      lane: LANE,
      class: CLASS,
      priority: 0,
      tags: [],
      retry: noRetry,
      retentionMs: RETENTION_MS,
      ifExists: 'join',
      payload: bytes === undefined ? undefined : { blob: 0, size: bytes.byteLength, encoding: 'bytes' },
      ...changes,
    }
  }

  submit(draft: Draft = {}): Promise<CreateResult> {
    return this.#fabric.run('createExecution', this.createInput(draft), draft.bytes === undefined ? [] : [draft.bytes])
  }

  async eligibleExecution(draft: Draft = {}): Promise<Submitted> {
    const result = await this.submit(draft)
    if (result.kind === 'refused') throw new Error(`the test's submit was refused: ${result.code}`)
    return { executionId: result.executionId }
  }

  delayedExecution(draft: Draft = {}): Promise<Submitted> {
    return this.eligibleExecution({ delayMs: DELAY_MS, ...draft })
  }

  async activeExecution(draft: Draft = {}, claim: Partial<ClaimInput> = {}): Promise<Held> {
    const submitted = await this.eligibleExecution(draft)
    return this.claimOf(submitted, {
      queues: [{ lane: draft.lane ?? LANE, class: draft.class ?? CLASS }],
      ...claim,
    })
  }

  /** Held by a worker whose lease has run out; the expiry is not handled yet. */
  async abandonedExecution(draft: Draft = {}): Promise<Held> {
    const held = await this.activeExecution(draft)
    this.#clock.advance(LEASE_TTL_MS)
    return held
  }

  async endedExecution(outcome: Exclude<Outcome, 'skipped'> = 'completed', draft: Draft = {}): Promise<Held> {
    const held = await this.activeExecution(outcome === 'expired' ? { totalTimeoutMs: DEADLINE_MS, ...draft } : draft)
    switch (outcome) {
      case 'completed':
        await this.#fabric.run('completeExecution', held)
        break
      case 'failed':
        await this.#fabric.run('failExecution', { ...held, ...permanentFailure })
        break
      case 'cancelled':
        await this.#fabric.run('cancelExecution', { executionId: held.executionId, ...forcedCancel })
        break
      case 'expired':
        this.#clock.advance(draft.totalTimeoutMs ?? DEADLINE_MS)
        await this.#fabric.duePass()
        break
    }
    return held
  }

  async inPhase(phase: ReachablePhase, draft: Draft = {}): Promise<Submitted> {
    switch (phase) {
      case 'eligible':
        return this.eligibleExecution(draft)
      case 'delayed':
        return this.delayedExecution(draft)
      case 'active':
        return this.activeExecution(draft)
      case 'ended':
        return this.endedExecution('completed', draft)
    }
  }

  /** Many eligible executions, in the order in which they were created. */
  async executions(count: number, draft: (number: number) => Draft = () => ({})): Promise<Submitted[]> {
    return Promise.all(Array.from({ length: count }, (_, number) => this.eligibleExecution(draft(number))))
  }

  claimInput(changes: Partial<ClaimInput> = {}): ClaimInput {
    return {
      requestId: this.requestId(),
      workerId: 'worker',
      workerInstanceId: 'worker-1',
      queues: [{ lane: LANE, class: CLASS }],
      count: 1,
      leaseTtlMs: LEASE_TTL_MS,
      seed: 1,
      ...changes,
    }
  }

  claim(changes: Partial<ClaimInput> = {}): Promise<ClaimResult> {
    return this.#fabric.run('claimForWorker', this.claimInput(changes))
  }

  /** Claims one execution, which must be the one at the head of its queue. */
  async claimOf(submitted: Submitted, changes: Partial<ClaimInput> = {}): Promise<Held> {
    const { executions } = await this.claim(changes)
    const claimed = executions[0]
    if (claimed?.executionId !== submitted.executionId) throw new Error('the test claims an execution out of turn')
    return heldOf(claimed)
  }

  /** Ids of what stands ready in a queue, in the order in which it will be claimed. Nothing is taken. */
  async readyOrder(lane = LANE, className = CLASS): Promise<string[]> {
    const index = ['ready', lane, className].join('\u001f')
    const { entries } = await this.#fabric.dump()
    return entries.filter((entry) => entry.index === index).map((entry) => entry.id)
  }

  async purgeAt(submitted: Submitted): Promise<number | undefined> {
    const { entries } = await this.#fabric.dump()
    return entries.find((entry) => entry.index === PURGE_INDEX && entry.id === submitted.executionId)?.score
  }

  async eventsOf(submitted: Submitted, type?: EventType): Promise<StoredEvent[]> {
    const events = await this.#fabric.events()
    return events.filter(
      (event) => event.executionId === submitted.executionId && (type === undefined || event.type === type),
    )
  }

  async eventTypesOf(submitted: Submitted): Promise<EventType[]> {
    return (await this.eventsOf(submitted)).map((event) => event.type)
  }
}

export function heldOf(claimed: Claimed): Held {
  return { executionId: claimed.executionId, fence: claimed.fence }
}

/** A failure that a retry policy may answer. */
export const transientFailure = { failure: { category: 'transient', message: 'no connection' }, seed: 1 } as const
/** A failure after which nothing is tried again. */
export const permanentFailure = { failure: { category: 'permanent', message: 'no such user' }, seed: 1 } as const

export const GRACE_MS = 5_000
/** An operator asks; the holder may finish within the grace. */
export const politeCancel = { reason: 'not needed', by: 'operator', force: false, graceMs: GRACE_MS } as const
/** An operator ends it now. */
export const forcedCancel = { reason: 'not needed', by: 'operator', force: true, graceMs: GRACE_MS } as const
