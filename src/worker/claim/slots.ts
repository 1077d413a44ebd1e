/**
 * What a worker has room for. A slot is taken while a handler runs; executions claimed ahead wait here for one. A task
 * with a limit of its own holds no more of that room than it can use, so it cannot stand in the way of others.
 */
import type { LeasedExecution } from '../lease/leased-execution.ts'
import type { ServedTask } from '../served-task.ts'

/** Executions whose last call is under way, for each one that may be held: a store that is slow to end them gets no more. */
const SETTLING_PER_LEASED = 4

export class Slots {
  readonly #concurrency: number
  readonly #prefetch: number
  readonly #recentEnds: RecentEndCount
  /** Set when something waited in vain: from then on no more is claimed ahead than handlers have ended lately. */
  #isPrefetchReduced = false
  /** What waits for a slot, for each task in the order of the claims. */
  readonly #queues: ReadonlyMap<ServedTask, LeasedExecution[]>
  #nextOrder = 0
  runningCount = 0
  waitingCount = 0
  /** Executions that claims under way may bring. */
  requestedCount = 0
  /** Executions whose handlers have returned and whose end is not stored yet. */
  settlingCount = 0

  constructor(concurrency: number, prefetch: number, tasks: readonly ServedTask[], now: () => number) {
    this.#concurrency = concurrency
    this.#prefetch = prefetch
    this.#recentEnds = new RecentEndCount(now)
    this.#queues = new Map(tasks.map((task) => [task, []]))
  }

  /**
   * How many one claim may ask for, of a task with a limit or of all those without. Nothing while enough is waiting; a
   * part of the room while others ask at the same time.
   */
  roomFor(task: ServedTask | undefined, sharedBy: number): number {
    const ahead = this.#prefetchLimit()
    const limit = this.#concurrency + ahead
    if (this.waitingCount > ahead / 2 || this.settlingCount >= limit * SETTLING_PER_LEASED) return 0
    const room = Math.max(0, limit - this.runningCount - this.waitingCount - this.requestedCount)
    return Math.min(Math.ceil(room / sharedBy), this.#ownRoom(task, ahead))
  }

  wait(leased: LeasedExecution): void {
    leased.order = this.#nextOrder++
    this.#queues.get(leased.task)?.push(leased)
    this.#countWaiting(leased.task, 1)
  }

  /** Takes the next one that may start now, the longest waiting first, and gives it a slot. */
  start(): LeasedExecution | undefined {
    if (this.waitingCount === 0 || this.runningCount >= this.#concurrency) return undefined
    let first: LeasedExecution | undefined
    for (const [task, queue] of this.#queues) {
      const candidate = queue[0]
      if (candidate === undefined || task.isSaturated) continue
      if (first === undefined || candidate.order < first.order) first = candidate
    }
    if (first === undefined) return undefined
    this.#queues.get(first.task)?.shift()
    this.#countWaiting(first.task, -1)
    this.runningCount += 1
    first.task.runningCount += 1
    return first
  }

  /** The handler has returned. */
  free(leased: LeasedExecution): void {
    this.#recentEnds.add()
    this.runningCount -= 1
    leased.task.runningCount -= 1
  }

  /** Takes back one that waits. Says whether it did. */
  withdraw(leased: LeasedExecution): boolean {
    const queue = this.#queues.get(leased.task) ?? []
    const at = queue.indexOf(leased)
    if (at === -1) return false
    queue.splice(at, 1)
    this.#countWaiting(leased.task, -1)
    return true
  }

  /** When the one was claimed that has waited longest; infinitely late if none waits. */
  get waitingSince(): number {
    let since = Infinity
    for (const [first] of this.#queues.values()) if (first !== undefined) since = Math.min(since, first.claimedAt)
    return since
  }

  /** Takes back what has waited since before a moment: others may have room for it. */
  withdrawWaitingSince(moment: number): LeasedExecution[] {
    const late = [...this.#queues.values()].flatMap((queue) => queue.filter((leased) => leased.claimedAt <= moment))
    for (const leased of late) this.withdraw(leased)
    if (late.length > 0) this.#isPrefetchReduced = true
    return late
  }

  /** Takes back all that wait. */
  withdrawAll(): LeasedExecution[] {
    const withdrawn = [...this.#queues.values()].flatMap((queue) => queue.splice(0))
    for (const leased of withdrawn) this.#countWaiting(leased.task, -1)
    return withdrawn
  }

  #countWaiting(task: ServedTask, change: number): void {
    this.waitingCount += change
    task.waitingCount += change
  }

  /** What a task's own limit leaves. */
  #ownRoom(task: ServedTask | undefined, ahead: number): number {
    if (task?.limit === undefined) return Infinity
    const ownAhead = Math.min(ahead, task.limit)
    if (task.waitingCount > ownAhead / 2) return 0
    return Math.max(0, task.limit + ownAhead - task.runningCount - task.waitingCount - task.requestedCount)
  }

  /** How many may be claimed ahead. */
  #prefetchLimit(): number {
    if (!this.#isPrefetchReduced) return this.#prefetch
    const ended = this.#recentEnds.count()
    if (ended >= this.#prefetch) this.#isPrefetchReduced = false
    return Math.min(this.#prefetch, ended)
  }
}

/** Ends are counted over the present and the last of these. */
const END_WINDOW_MS = 500

/** How many handlers have ended lately: about as many will end soon. */
class RecentEndCount {
  readonly #now: () => number
  #windowBeganAt = 0
  #before = 0
  #count = 0

  constructor(now: () => number) {
    this.#now = now
  }

  add(): void {
    this.#rotate()
    this.#count += 1
  }

  count(): number {
    this.#rotate()
    return this.#before + this.#count
  }

  #rotate(): void {
    const now = this.#now()
    const windows = Math.floor((now - this.#windowBeganAt) / END_WINDOW_MS)
    if (windows < 1) return
    this.#before = windows === 1 ? this.#count : 0
    this.#count = 0
    this.#windowBeganAt += windows * END_WINDOW_MS
  }
}
