/** What must be true of shaped executions, by the submits that the store has applied and what workers were given. */
import type { Execution, ExecutionId, SubmitShaping } from '../../../src/kernel/index.ts'

export interface AppliedSubmit {
  readonly shaping: SubmitShaping
  readonly text: string
  readonly at: number
  readonly kind: string
  readonly executionId: ExecutionId
}

interface Life {
  readonly shaping: SubmitShaping
  /** When its window began. */
  readonly since: number
  /** The input of the latest submit that it stands for, and when that was applied. */
  text: string
  latestAt: number
  hasStarted: boolean
  /** An operator has cancelled it, or a later submit has displaced it. */
  isDisturbed: boolean
}

/** How long after it was due an execution may start at the latest: no engine or worker is away for as long. */
const LATE_MS = 60_000

export class ShapingCheck {
  readonly problems: string[] = []
  readonly #continued = new Set<string>()
  readonly #lives = new Map<ExecutionId, Life>()
  /** By key, in the order in which their submits were applied. */
  readonly #lines = new Map<string, ExecutionId[]>()

  /** A submit was applied for the first time. */
  applied({ shaping, text, at, kind, executionId }: AppliedSubmit): void {
    const life = this.#lives.get(executionId)
    if (kind === 'created') {
      if (life !== undefined) this.#report(`${executionId} was created twice`)
      this.#checkWindow(shaping, at)
      this.#lives.set(executionId, { shaping, since: at, text, latestAt: at, hasStarted: false, isDisturbed: false })
      const line = this.#lines.get(lineOf(shaping)) ?? []
      this.#lines.set(lineOf(shaping), [...line, executionId])
      return
    }
    if (life === undefined) {
      this.#report(`a submit ${kind} ${executionId}, which no submit has created`)
      return
    }
    if (kind !== 'replaced') return
    if (life.hasStarted) this.#report(`a submit replaced the input of ${executionId}, which has started`)
    life.text = text
    life.latestAt = at
  }

  /** A repetition of a submit was answered. */
  repeated(first: AppliedSubmit, executionId: ExecutionId): void {
    if (executionId === first.executionId) return
    this.#report(`a repeated submit was answered with ${executionId}, and before with ${first.executionId}`)
  }

  cancelled(executionId: ExecutionId): void {
    const life = this.#lives.get(executionId)
    if (life !== undefined) life.isDisturbed = true
  }

  /** An operator has let those run that the failure of this one held back. */
  continued(executionId: ExecutionId): void {
    this.#continued.add(executionId)
  }

  /** A worker was given an execution. `others` are all executions of its key, as they are then. */
  claimed(executionId: ExecutionId, text: string, now: number, others: readonly Execution[]): void {
    const life = this.#lives.get(executionId)
    if (life === undefined) {
      this.#report(`${executionId} was claimed, which no submit has created`)
      return
    }
    const isFirst = !life.hasStarted
    life.hasStarted = true
    if (life.text !== text) this.#report(`${executionId} runs with '${text}', but the last submit was '${life.text}'`)
    const open = others.filter(({ id, state }) => id !== executionId && state.phase !== 'ended')
    switch (life.shaping.kind) {
      case 'debounce':
        this.#checkStart(executionId, life, life.shaping, now, isFirst)
        return
      case 'throttle':
        return
      case 'singleton':
        if (open.some(({ state }) => state.phase === 'active'))
          this.#report(`${executionId} runs beside another of its key`)
        return
      case 'order':
        this.#checkTurn(executionId, life.shaping, open, others)
    }
  }

  #checkStart(
    id: ExecutionId,
    { latestAt, since, isDisturbed }: Life,
    { waitMs, maxMs }: Extract<SubmitShaping, { kind: 'debounce' }>,
    now: number,
    isFirst: boolean,
  ): void {
    const dueAt = Math.min(latestAt + waitMs, since + maxMs)
    if (now < dueAt) this.#report(`${id} started ${dueAt - now} ms before the silence after its last submit`)
    if (isFirst && !isDisturbed && now > dueAt + LATE_MS) this.#report(`${id} started ${now - dueAt} ms late`)
  }

  /** Those before it have ended, and none of them has failed and holds the others back. */
  #checkTurn(
    id: ExecutionId,
    shaping: Extract<SubmitShaping, { kind: 'order' }>,
    open: readonly Execution[],
    others: readonly Execution[],
  ): void {
    const line = this.#lines.get(lineOf(shaping)) ?? []
    const before = new Set<string>(line.slice(0, line.indexOf(id)))
    const early = open.find((other) => before.has(other.id) && other.unwinding === undefined)
    if (early !== undefined) this.#report(`${id} runs before ${early.id}, which was submitted earlier`)
    const failed = others.find(({ id: other, state }) => before.has(other) && this.#holdsBack(other, state))
    if (shaping.onFailure === 'block' && failed !== undefined)
      this.#report(`${id} runs although ${failed.id} before it has failed`)
  }

  #checkWindow(shaping: SubmitShaping, at: number): void {
    if (shaping.kind !== 'throttle') return
    const [latest] = (this.#lines.get(lineOf(shaping)) ?? []).slice(-1)
    const since = latest === undefined ? undefined : this.#lives.get(latest)?.since
    if (since !== undefined && at < since + shaping.everyMs)
      this.#report(`key ${shaping.key} was created again ${since + shaping.everyMs - at} ms before its period was over`)
  }

  /** Checks the executions of one key at any time. */
  ofKey(shaping: SubmitShaping, executions: readonly Execution[]): void {
    const open = executions.filter(({ state }) => state.phase !== 'ended')
    if (shaping.kind === 'debounce') this.#checkMaximum(shaping.maxMs, open)
    if (shaping.kind !== 'singleton') return
    const most = shaping.ifTaken === 'replace' ? 2 : 1
    if (open.length > most) this.#report(`key ${shaping.key} has ${open.length} executions that have not ended`)
  }

  #checkMaximum(maxMs: number, open: readonly Execution[]): void {
    for (const { id, state } of open) {
      const until = (this.#lives.get(id)?.since ?? 0) + maxMs
      if (state.phase === 'delayed' && state.cause === 'debounce' && state.until > until)
        this.#report(`${id} waits ${state.until - until} ms longer than its maximum`)
    }
  }

  /** All was given time to end. */
  ended(executions: ReadonlyMap<string, Execution>): void {
    for (const [id, { shaping, hasStarted, isDisturbed }] of this.#lives) {
      const execution = executions.get(id)
      const holder = this.#heldBack(shaping, executions)
      if (execution === undefined) this.#report(`${id} is gone`)
      else if (execution.state.phase !== 'ended' && !holder) this.#report(`${id} of key ${shaping.key} never ended`)
      else if (
        execution.state.phase === 'ended' &&
        !hasStarted &&
        !isDisturbed &&
        execution.state.outcome !== 'cancelled'
      )
        this.#report(`${id} ended without having run`)
    }
  }

  /** Whether a failure holds the rest of a line back. */
  #heldBack(shaping: SubmitShaping, executions: ReadonlyMap<string, Execution>): boolean {
    if (shaping.kind !== 'order' || shaping.onFailure !== 'block') return false
    const line = this.#lines.get(lineOf(shaping)) ?? []
    return line.some((id) => {
      const state = executions.get(id)?.state
      return state !== undefined && this.#holdsBack(id, state)
    })
  }

  #holdsBack(id: string, state: Execution['state']): boolean {
    return state.phase === 'ended' && state.outcome === 'failed' && !this.#continued.has(id)
  }

  #report(problem: string): void {
    this.problems.push(problem)
  }
}

function lineOf({ kind, key }: SubmitShaping): string {
  return `${kind} ${key}`
}
