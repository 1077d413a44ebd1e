/**
 * The promises about follow-ups of flows: each submit has one run, or gives way to a later one, and a run begins when the one
 * before it has ended. The log of each flow is compared with the submits that it had, and with the runs of its members.
 */
import type { StoredEvent } from '../../src/stores/store.ts'
import { flowKindNamed } from './flow-kinds.ts'
import type { EffectiveSubmit } from './submit-order.ts'
import type { Body } from './witness.ts'
import type { World } from './world.ts'

/** The nodes of every run. */
const NODES = ['a', 'b'] as const

export function flowRunProblems({ network, submits, witness }: World): string[] {
  const accepted = witness.flowAcceptances.filter(({ kind }) => flowKindNamed(kind)?.then.kind === 'follow')
  const events = network.dumps.flatMap((dump) => dump.events)
  return [...new Set(accepted.map(({ flowId }) => flowId))].flatMap((flowId) => {
    const walk = new FlowWalk(flowId, submits.of(flowId))
    for (const event of events) if (event.executionId === flowId) walk.take(event)
    return [...walk.problems(), ...memberProblems(walk, flowId, submits.of(flowId), witness.bodies)]
  })
}

/** Every node of a run that has begun completes it, under one idempotency key; no node of any other submit runs. */
function memberProblems(
  { begun }: FlowWalk,
  flowId: string,
  submits: readonly EffectiveSubmit[],
  bodies: readonly Body[],
): string[] {
  return submits.flatMap(({ input }) =>
    NODES.flatMap((node) => {
      const own = bodies.filter((body) => body.input === `${input} ${node}`)
      const keys = new Set(own.map(({ idempotencyKey }) => idempotencyKey))
      if (!begun.has(input)) return own.length === 0 ? [] : [`${flowId} ran ${node} for ${input}, which never began`]
      if (keys.size > 1) return [`${flowId} ran ${node} ${keys.size} times for the one submit of ${input}`]
      const isDone = own.some(({ answer }) => answer !== undefined)
      return isDone ? [] : [`${flowId} ended without a run of ${node} for ${input}`]
    }),
  )
}

/** Follows the log of one flow, event by event, and knows which submit runs and which waits. */
class FlowWalk {
  /** The inputs whose run began. */
  readonly begun = new Set<string>()
  readonly #flowId: string
  readonly #submits: readonly EffectiveSubmit[]
  readonly #problems: string[] = []
  #nextSubmit = 0
  #pending: EffectiveSubmit | undefined
  #isRunning = false

  constructor(flowId: string, submits: readonly EffectiveSubmit[]) {
    this.#flowId = flowId
    this.#submits = submits
  }

  take({ type }: StoredEvent): void {
    switch (type) {
      case 'flow_created':
        this.#begin(this.#takeSubmit())
        return
      case 'follow_up_set':
        this.#pending = this.#takeSubmit()
        return
      case 'follow_up_started':
        if (this.#pending === undefined) this.#problems.push(`${this.#flowId} ran once more, and nothing waited`)
        this.#begin(this.#pending)
        this.#pending = undefined
        return
      case 'flow_ended':
        if (!this.#isRunning) this.#problems.push(`a run of ${this.#flowId} ended twice`)
        this.#isRunning = false
        return
      default:
        return
    }
  }

  problems(): string[] {
    const lost = this.#pending === undefined ? [] : [`the follow-up of ${this.#flowId} is lost`]
    const unknown = this.#submits.slice(this.#nextSubmit).map(() => `a submit of ${this.#flowId} left no trace`)
    return [...this.#problems, ...lost, ...unknown]
  }

  #begin(submit: EffectiveSubmit | undefined): void {
    if (this.#isRunning) this.#problems.push(`a run of ${this.#flowId} began before the end of the one before it`)
    this.#isRunning = true
    if (submit !== undefined) this.begun.add(submit.input)
  }

  /** Each submit with an effect has one event. */
  #takeSubmit(): EffectiveSubmit | undefined {
    const submit = this.#submits[this.#nextSubmit]
    if (submit === undefined) this.#problems.push(`${this.#flowId} was to run once more than it was submitted`)
    this.#nextSubmit += 1
    return submit
  }
}
