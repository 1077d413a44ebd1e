/** What handlers and senders saw of steps, waits and signals, apart from the store. */
import type { Child, ChildHandle } from '../../src/client/define/children.ts'
import type { StepContext, StepOptions, Task, TaskContext, Waitable } from '../../src/client/index.ts'

/** One run of a step's work. Each gives a value that no other gives. */
export interface StepRun {
  readonly executionId: string
  readonly step: string
  readonly idempotencyKey: string
  readonly value: string
}

/** What a handler was answered by a step, a wait or a child. */
export interface StepAnswer {
  readonly executionId: string
  readonly kind: 'step' | 'wait' | 'now' | 'child' | 'join'
  readonly name: string
  readonly value: unknown
}

/** What became of a signal that was sent. Refused: it came too late. */
export interface SentSignal {
  readonly executionId: string
  readonly target: string
  readonly key: string
  readonly value: string
  /** The store's answer. */
  readonly told: { readonly sequence: number; readonly effect: string } | 'refused'
}

/** A link that a handler has given away. */
export interface HandedLink {
  readonly executionId: string
  readonly token: string
}

/** How long a handler slept, by the store's clock, and how long it had asked for. */
export interface Rest {
  readonly executionId: string
  readonly ms: number
  readonly askedMs: number
}

/** A compensation whose registration was answered. */
export interface Registration {
  readonly executionId: string
  readonly name: string
}

type ChildTask = Task<{ readonly name: string }, unknown, unknown, string>

export class JournalNotes {
  readonly rests: Rest[] = []
  readonly runs: StepRun[] = []
  readonly answers: StepAnswer[] = []
  readonly sent: SentSignal[] = []
  readonly links: HandedLink[] = []
  readonly registrations: Registration[] = []
  /** Compensations that ran although the lease holder could read that they are recorded. */
  readonly repeatedUndos: Registration[] = []
}

/** The durable calls of one body, with a note of all that they do. */
export class NotedCalls {
  readonly #notes: JournalNotes
  readonly #context: TaskContext
  readonly #isRecorded: (step: string) => boolean

  /** `isRecorded`: whether this body has the lease, and the store has a result of the step. */
  constructor(notes: JournalNotes, context: TaskContext, isRecorded: (step: string) => boolean) {
    this.#notes = notes
    this.#context = context
    this.#isRecorded = isRecorded
  }

  /** A step whose value names the run that gave it. `work` may fail. */
  async step(
    name: string,
    work: (step: StepContext) => void = () => undefined,
    options: StepOptions = {},
  ): Promise<void> {
    const value = await this.#context.step(name, options, (step) => {
      const run = this.#note(step)
      work(step)
      return run
    })
    this.#answered('step', name, value)
  }

  async compensate(
    name: string,
    work: (step: StepContext) => void = () => undefined,
    options: StepOptions = {},
  ): Promise<void> {
    const { executionId } = this.#context
    await this.#context.compensate(name, options, (step) => {
      if (this.#isRecorded(step.name)) this.#notes.repeatedUndos.push({ executionId, name })
      this.#note(step)
      work(step)
    })
    this.#notes.registrations.push({ executionId, name })
  }

  async waitFor<Answer>(name: string, waitable: Waitable<Answer>): Promise<Answer> {
    const answer = await this.#context.waitFor(name, waitable)
    this.#answered('wait', name, answer)
    return answer
  }

  /** Calls a child, whose answer is a text of its own. */
  async call(name: string, task: ChildTask): Promise<void> {
    this.#answered('child', name, await this.#context.call(name, task, { name }))
  }

  spawn(name: string, task: ChildTask): Promise<ChildHandle<string>> {
    return this.#context.spawn(name, task, { name })
  }

  async all(name: string, children: readonly Child<string>[]): Promise<void> {
    this.#answered('join', name, await this.#context.all(name, children))
  }

  async settled(name: string, children: readonly Child<string>[]): Promise<void> {
    const outcomes = await this.#context.settled(name, children)
    this.#answered(
      'join',
      name,
      outcomes.map((each) => (each.ok ? each.value : each.error.message)),
    )
  }

  /** The losers are cancelled. */
  async any(name: string, children: readonly Child<string>[]): Promise<void> {
    this.#answered('join', name, await this.#context.any(name, children, { losers: 'cancel' }))
  }

  async now(name: string): Promise<number> {
    const at = await this.#context.now(name)
    this.#answered('now', name, at)
    return at
  }

  rested(ms: number, askedMs: number): void {
    this.#notes.rests.push({ executionId: this.#context.executionId, ms, askedMs })
  }

  /** Gives a link away, once; its holder may have an old one. */
  async handOut(name: string, token: string): Promise<void> {
    const { executionId } = this.#context
    await this.step(name, () => void this.#notes.links.push({ executionId, token }))
  }

  #note({ name, idempotencyKey }: StepContext): string {
    const { executionId } = this.#context
    const value = `${name} run ${this.#notes.runs.length + 1}`
    this.#notes.runs.push({ executionId, step: name, idempotencyKey, value })
    return value
  }

  #answered(kind: StepAnswer['kind'], name: string, value: unknown): void {
    this.#notes.answers.push({ executionId: this.#context.executionId, kind, name, value })
  }
}
