/**
 * The promises about ids: a follow-up runs once, unless a later one or a cancel takes its place, and an id is free only when its
 * time is over. The log of an execution is compared with the submits that it had.
 */
import type { StoredEvent } from '../../src/stores/store.ts'
import { kindNamed } from './kinds.ts'
import type { EffectiveSubmit } from './submit-order.ts'
import type { World } from './world.ts'

export function idHistoryProblems(world: World, events: ReadonlyMap<string, readonly StoredEvent[]>): string[] {
  const ids = new Map(
    world.witness.acceptances
      .filter(({ task }) => ['follow', 'resubmit'].includes(kindNamed(task).then.kind))
      .map(({ executionId, task }) => [executionId, task]),
  )
  return [...ids].flatMap(([id, task]) => {
    const walk = new RunWalk(id, world.submits.of(id), world.hasClockGoneBack)
    for (const event of events.get(id) ?? []) walk.take(event)
    const isFollowed = kindNamed(task).then.kind === 'follow'
    return [...walk.problems(), ...(isFollowed ? bodyProblems(world, id, walk) : [])]
  })
}

/** What begins has a run of its handler, under one idempotency key; what gave way to another never runs. */
function bodyProblems({ witness }: World, id: string, { begun, completed }: RunWalk): string[] {
  const bodies = Map.groupBy(
    witness.bodies.filter(({ executionId }) => executionId === id),
    ({ input }) => input,
  )
  const problems = [...bodies].flatMap(([input, own]) => {
    const keys = new Set(own.map(({ idempotencyKey }) => idempotencyKey))
    if (!begun.has(input)) return [`${id} ran with ${input}, which never began`]
    return keys.size === 1 ? [] : [`${id} ran ${keys.size} times for the one submit of ${input}`]
  })
  const unrun = [...completed].filter((input) => !(bodies.get(input) ?? []).some(({ answer }) => answer !== undefined))
  return [...problems, ...unrun.map((input) => `${id} completed without a run for ${input}`)]
}

/** Follows the log of one execution, event by event, and knows which submit runs and which waits. */
class RunWalk {
  /** The inputs whose run began, and those whose run completed. */
  readonly begun = new Set<string>()
  readonly completed = new Set<string>()
  readonly #id: string
  readonly #submits: readonly EffectiveSubmit[]
  readonly #hasClockGoneBack: boolean
  readonly #problems: string[] = []
  #nextSubmit = 0
  #current: EffectiveSubmit | undefined
  #pending: EffectiveSubmit | undefined
  #endedAt: number | undefined

  constructor(id: string, submits: readonly EffectiveSubmit[], hasClockGoneBack: boolean) {
    this.#id = id
    this.#submits = submits
    this.#hasClockGoneBack = hasClockGoneBack
  }

  take({ type, outcome, at }: StoredEvent): void {
    if (this.#endedAt !== undefined && this.#pending !== undefined && type !== 'follow_up_started') {
      this.#problems.push(`${this.#id} ended, and its follow-up did not begin`)
    }
    switch (type) {
      case 'execution_created':
        this.#checkFree(at)
        this.#begin(this.#takeSubmit())
        return
      case 'follow_up_set':
        this.#pending = this.#takeSubmit()
        return
      case 'follow_up_dropped':
        if (this.#pending === undefined) this.#problems.push(`${this.#id} dropped a follow-up that it did not have`)
        this.#pending = undefined
        return
      case 'follow_up_started':
        if (this.#endedAt === undefined) this.#problems.push(`a follow-up of ${this.#id} began before the end`)
        this.#begin(this.#pending ?? this.#takeSubmit())
        this.#pending = undefined
        return
      case 'execution_ended':
        this.#endedAt = at
        if (outcome === 'completed' && this.#current !== undefined) this.completed.add(this.#current.input)
        return
      default:
        return
    }
  }

  problems(): string[] {
    const lost = this.#pending === undefined ? [] : [`the follow-up of ${this.#id} is lost`]
    const unknown = this.#submits.slice(this.#nextSubmit).map(() => `a submit of ${this.#id} left no trace`)
    return [...this.#problems, ...lost, ...unknown]
  }

  #begin(submit: EffectiveSubmit | undefined): void {
    if (submit === undefined) return
    if (this.#current === submit) this.#problems.push(`${this.#id} ran twice for one submit`)
    this.#current = submit
    this.#endedAt = undefined
    this.begun.add(submit.input)
  }

  /** Each submit with an effect has one event. */
  #takeSubmit(): EffectiveSubmit | undefined {
    const submit = this.#submits[this.#nextSubmit]
    if (submit === undefined) this.#problems.push(`${this.#id} ran or was to run once more than it was submitted`)
    this.#nextSubmit += 1
    return submit
  }

  #checkFree(at: number): void {
    if (this.#current === undefined || this.#hasClockGoneBack) return
    if (this.#endedAt === undefined || this.#endedAt + this.#current.takenMs > at) {
      this.#problems.push(`the id of ${this.#id} was free before its time`)
    }
  }
}
