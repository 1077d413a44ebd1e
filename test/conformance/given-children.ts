/** Builders of parents and children: a parent that a worker holds, children that it has started, and their ends. */
import type {
  ChildInput,
  Claimed,
  ExecutionId,
  Join,
  JoinChildrenInput,
  JoinChildrenResult,
  JoinPolicy,
  StartChildrenInput,
  StartChildrenResult,
  StartedChild,
  Step,
} from '../../src/kernel/index.ts'
import type { TestFabric } from './fabric.ts'
import { LANE, heldOf, permanentFailure } from './given.ts'
import type { Draft, Given, Held, Submitted } from './given.ts'

/** Children have a queue of their own, so that a claim in a test names what it takes. */
export const CHILD_CLASS = 'child'

/** What a test changes of an otherwise ordinary child. */
export interface ChildDraft extends Partial<Omit<ChildInput, 'name' | 'create'>> {
  readonly create?: Draft
}

/** What a test changes of a join of all children. */
export type JoinDraft = Partial<Omit<JoinChildrenInput, 'executionId' | 'fence'>>

export class GivenChildren {
  readonly #fabric: TestFabric
  readonly #given: Given

  constructor(fabric: TestFabric, given: Given) {
    this.#fabric = fabric
    this.#given = given
  }

  input(name: string, { create = {}, ...changes }: ChildDraft = {}): ChildInput {
    const { executionId = this.#given.newId(), ...draft } = create
    return {
      name,
      create: this.#given.createInput({
        class: CHILD_CLASS,
        task: 'child',
        ifExists: 'reject',
        requestId: undefined,
        executionId,
        ...draft,
      }),
      ...changes,
    }
  }

  start(
    held: Held,
    names: readonly string[],
    changes: Partial<StartChildrenInput> = {},
    draft: ChildDraft = {},
  ): Promise<StartChildrenResult> {
    const { executionId, fence } = held
    const children = names.map((name) => this.input(name, draft))
    return this.#fabric.run('startChildren', { executionId, fence, children, ...changes })
  }

  /** The ids of children that were started, by the order of their names. */
  async started(held: Held, names: readonly string[], draft: ChildDraft = {}): Promise<ExecutionId[]> {
    const result = await this.start(held, names, {}, draft)
    if (result.kind !== 'started') throw new Error(`the test's start was answered with ${result.kind}`)
    return result.children.map(idOf)
  }

  joinOf(names: readonly string[], policy: JoinPolicy = 'all', need = 0): StartChildrenInput['join'] {
    return { name: policy, policy, need, losers: 'let_run', total: names.length, offset: 0 }
  }

  join(held: Held, names: readonly string[], draft: JoinDraft = {}): Promise<JoinChildrenResult> {
    return this.#fabric.run('joinChildren', {
      executionId: held.executionId,
      fence: held.fence,
      name: draft.policy ?? 'all',
      policy: 'all',
      need: 0,
      losers: 'let_run',
      total: names.length,
      children: names,
      offset: 0,
      isLast: true,
      ...draft,
    })
  }

  /** A parent that waits for new children in a join. */
  async waiting(
    names: readonly string[],
    draft: JoinDraft & { readonly parent?: Draft; readonly child?: ChildDraft } = {},
  ): Promise<{ readonly parent: Held; readonly ids: ExecutionId[] }> {
    const { parent: of, child, ...join } = draft
    const parent = await this.#given.activeExecution(of)
    const ids = await this.started(parent, names, child)
    const result = await this.join(parent, names, join)
    if (result.kind !== 'suspended') throw new Error(`the test's join was answered with ${result.kind}`)
    return { parent, ids }
  }

  /** Claims children, as many as are ready. */
  async claim(count = 50): Promise<Claimed[]> {
    const { executions } = await this.#given.claim({ queues: [{ lane: LANE, class: CHILD_CLASS }], count })
    return executions
  }

  /** A worker holds one child, which must be ready. */
  async held(childId: ExecutionId): Promise<Held> {
    const claimed = await this.claim()
    const own = claimed.find(({ executionId }) => executionId === childId)
    if (own === undefined) throw new Error('the test claims a child that is not ready')
    for (const other of claimed) {
      if (other !== own) await this.#fabric.run('releaseExecution', { ...heldOf(other), reason: 'not this one' })
    }
    return heldOf(own)
  }

  /** A child runs and completes. */
  async complete(childId: ExecutionId, bytes?: Uint8Array): Promise<void> {
    const held = await this.held(childId)
    const result = bytes && { blob: 0, size: bytes.byteLength, encoding: 'bytes' as const }
    await this.#fabric.run('completeExecution', { ...held, result }, bytes && [bytes])
  }

  /** A child runs and fails for good. */
  async fail(childId: ExecutionId): Promise<void> {
    await this.#fabric.run('failExecution', { ...(await this.held(childId)), ...permanentFailure })
  }

  async step(of: Submitted, name: string, kind: 'child' | 'join' = 'child'): Promise<Step> {
    const result = await this.#fabric.run('readSteps', { executionId: of.executionId })
    const steps = result.kind === 'refused' ? [] : result.steps
    const found = steps.find(({ step }) => step.kind === kind && step.name === name)
    if (found === undefined) throw new Error(`the test looks for the ${kind} ${name}, which does not exist`)
    return found.step
  }

  async joined(of: Submitted, name = 'all'): Promise<Join> {
    const { join } = await this.step(of, name, 'join')
    if (join === undefined) throw new Error('the test looks for a join in a step that is none')
    return join
  }
}

function idOf({ name, executionId }: StartedChild): ExecutionId {
  if (executionId === undefined) throw new Error(`the child ${name} of the test was not started`)
  return executionId
}
