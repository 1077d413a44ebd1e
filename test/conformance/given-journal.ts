/** Builders of what executions remember and wait for: steps, waits, waitpoints and signals, ordinary unless a test overrides them. */
import type {
  CreateWaitpointInput,
  CreateWaitpointResult,
  DeliverSignalInput,
  DeliverSignalResult,
  Journal,
  RecordStepInput,
  RecordStepResult,
  Signal,
  SignalSource,
  Step,
  StepOutcome,
  StepView,
  SuspendInput,
  SuspendResult,
  TokenBinding,
  Waitpoint,
  WaitpointView,
} from '../../src/kernel/index.ts'
import { nodesOf, one } from './condition-nodes.ts'
import type { Asked } from './condition-nodes.ts'
import type { TestFabric } from './fabric.ts'
import type { Draft, Given, Held, Submitted } from './given.ts'

/** What a test changes of an otherwise ordinary wait. */
export interface WaitDraft extends Partial<Omit<SuspendInput, 'nodes' | 'executionId' | 'fence'>> {
  readonly for?: Asked
}

/** What a test changes of an otherwise ordinary signal; `bytes` is its payload. */
export interface SignalDraft extends Partial<
  Omit<DeliverSignalInput, 'executionId' | 'target' | 'payload' | 'source'>
> {
  readonly by?: string
  readonly source?: SignalSource
  readonly bytes?: Uint8Array
}

export const ada: SignalSource = { type: 'token', identity: 'ada' }

export class GivenJournal {
  readonly #fabric: TestFabric
  readonly #given: Given

  constructor(fabric: TestFabric, given: Given) {
    this.#fabric = fabric
    this.#given = given
  }

  /** Waits for one signal at the waitpoint `reply`, which the wait opens itself, unless something else is asked for. */
  waitInput(held: Held, { for: asked = one('reply'), ...changes }: WaitDraft = {}): SuspendInput {
    return {
      executionId: held.executionId,
      fence: held.fence,
      stepKind: 'wait',
      name: 'answer',
      nodes: nodesOf(asked),
      opens: ['reply'],
      reason: 'signal',
      onTimeout: 'resume',
      ...changes,
    }
  }

  wait(held: Held, draft: WaitDraft = {}): Promise<SuspendResult> {
    return this.#fabric.run('suspendExecution', this.waitInput(held, draft))
  }

  sleep(held: Held, timeoutMs: number, name = 'nap'): Promise<SuspendResult> {
    const { executionId, fence } = held
    const sleep = { stepKind: 'sleep', name, nodes: [], opens: [], reason: 'sleep', onTimeout: 'resume' } as const
    return this.#fabric.run('suspendExecution', { executionId, fence, ...sleep, timeoutMs })
  }

  /** An execution that waits. */
  async waiting(draft: WaitDraft = {}, of: Draft = {}): Promise<Held> {
    const held = await this.#given.activeExecution(of)
    const result = await this.wait(held, draft)
    if (result.kind !== 'suspended') throw new Error(`the test's wait was answered with ${result.kind}`)
    return held
  }

  /** A signal under a key of its own, unless it has one. */
  signal(to: Submitted, target: string, draft: SignalDraft = {}): Promise<DeliverSignalResult> {
    const { bytes, by = 'sender-1', source = { type: 'caller', identity: by }, ...changes } = draft
    const payload = bytes && { blob: 0, size: bytes.byteLength, encoding: 'bytes' as const }
    const input = { executionId: to.executionId, target, key: this.#given.requestId(), name: 'go', source, payload }
    return this.#fabric.run('deliverSignal', { ...input, ...changes }, bytes && [bytes])
  }

  /** What the signal did, or why it was refused. */
  async effect(to: Submitted, target: string, draft: SignalDraft = {}): Promise<string> {
    const result = await this.signal(to, target, draft)
    return result.kind === 'refused' ? result.code : result.effect
  }

  open(held: Held, target: string, changes: Partial<CreateWaitpointInput> = {}): Promise<CreateWaitpointResult> {
    const { executionId, fence } = held
    return this.#fabric.run('createWaitpoint', { executionId, fence, target, ...changes })
  }

  /** A waitpoint that was opened, as its holder sees it. */
  async opened(held: Held, target: string, changes: Partial<CreateWaitpointInput> = {}): Promise<WaitpointView> {
    const result = await this.open(held, target, changes)
    if (result.kind === 'refused') throw new Error(`the test's waitpoint was refused: ${result.code}`)
    return result.waitpoint
  }

  record(
    held: Held,
    name: string,
    changes: Partial<RecordStepInput> = {},
    blobs: readonly Uint8Array[] = [],
  ): Promise<RecordStepResult> {
    const { executionId, fence } = held
    const step = { executionId, fence, stepKind: 'call', name, attemptCount: 1, outcome: done } as const
    return this.#fabric.run('recordStep', { ...step, ...changes }, blobs)
  }

  /** A step whose result is some bytes. */
  recordValue(held: Held, name: string, bytes: Uint8Array): Promise<RecordStepResult> {
    const value = { blob: 0, size: bytes.byteLength, encoding: 'bytes' } as const
    return this.record(held, name, { outcome: { kind: 'completed', value } }, [bytes])
  }

  /** The content of a verified token of a waitpoint. */
  tokenOf({ waitpointId, generation, createdAt, nonce }: WaitpointView): TokenBinding {
    return { waitpointId, generation, openedAt: createdAt, nonce }
  }

  async views(of: Submitted): Promise<StepView[]> {
    const result = await this.#fabric.run('readSteps', { executionId: of.executionId })
    if (result.kind === 'refused') throw new Error('the test reads steps of what does not exist')
    return result.steps
  }

  async step(of: Submitted, name: string): Promise<Step> {
    const view = (await this.views(of)).find(({ step }) => step.name === name)
    if (view === undefined) throw new Error(`the test looks for the step ${name}, which does not exist`)
    return view.step
  }

  async signals(of: Submitted): Promise<Signal[]> {
    const result = await this.#fabric.run('readSignals', { executionId: of.executionId })
    if (result.kind === 'refused') throw new Error('the test reads signals of what does not exist')
    return result.signals.map(({ signal }) => signal)
  }

  async waitpoint(of: Submitted, target: string): Promise<Waitpoint> {
    const result = await this.#fabric.run('listWaitpoints', { executionId: of.executionId, all: true })
    const listed = result.kind === 'refused' ? [] : result.waitpoints.map(({ waitpoint }) => waitpoint)
    const found = listed.find((waitpoint) => waitpoint.target === target)
    if (found === undefined) throw new Error(`the test looks for the waitpoint ${target}, which does not exist`)
    return found
  }

  async journal(of: Submitted): Promise<Journal> {
    const { journal } = await this.#fabric.look(of.executionId)
    if (journal === undefined) throw new Error('the test looks at a journal that was not begun')
    return journal
  }
}

const done: StepOutcome = { kind: 'completed' }

/** A step that failed for good, in this round. */
export const stepFailure: StepOutcome = {
  kind: 'failed',
  failure: { category: 'error', message: 'no luck' },
  size: 12,
}

/** A step that is to be tried again after a while; parked, its worker is free until then. */
export function stepRetry(delayMs: number, park = true): StepOutcome {
  return { kind: 'retry', failure: { category: 'error', message: 'no luck' }, size: 12, delayMs, park }
}
