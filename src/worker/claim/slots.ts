/**
 * The concurrency slots of a worker. A handler occupies the slots of its task while it runs, mostly one; prefetched executions queue
 * for them. A task with a concurrency limit prefetches no more than it can run, so it cannot block other tasks. A task that takes several
 * slots prefetches nothing: an execution that waits for slots here could start in another worker.
 */
import type { LeasedExecution } from '../lease/leased-execution.ts'
import type { ServedTask } from '../served-task.ts'

/** Outcomes being reported, per execution that may be leased. Backpressure: beyond this no more is claimed. */
const SETTLING_PER_LEASED = 4

export class Slots {
  readonly #concurrency: number
  readonly #prefetch: number
  readonly #recentEnds: RecentEndCount
  /** Set when a prefetched execution waited too long: prefetching is then limited to the recent rate of ends. */
  #isPrefetchReduced = false
  /** Executions that wait for a slot, by task, in the order of their claims. */
  readonly #queues: ReadonlyMap<ServedTask, LeasedExecution[]>
  #nextOrder = 0
  runningCount = 0
  waitingCount = 0
  #runningSlots = 0
  #waitingSlots = 0
  /** Executions that wait for permits, before they wait for a slot. */
  admittingCount = 0
  #admittingSlots = 0
  /** Slots of the executions that pending claims may return. */
  requestedSlots = 0
  /** Executions whose outcome is being reported. */
  settlingCount = 0

  constructor(concurrency: number, prefetch: number, tasks: readonly ServedTask[], now: () => number) {
    this.#concurrency = concurrency
    this.#prefetch = prefetch
    this.#recentEnds = new RecentEndCount(now)
    this.#queues = new Map(tasks.map((task) => [task, []]))
  }

  /**
   * Returns how many executions one claim may request: of one task that is claimed alone, or of all others. 0 while enough
   * wait for a slot. Concurrent claims share the room, but each gets `least` and room for one execution if there is as much.
   */
  roomFor(task: ServedTask | undefined, sharedBy: number, least: number): number {
    const slots = task?.slots ?? 1
    const ahead = slots > 1 ? 0 : this.#prefetchLimit()
    const limit = this.#concurrency + ahead
    if (this.#waitingSlots > ahead / 2 || this.settlingCount >= limit * SETTLING_PER_LEASED) return 0
    const room = Math.max(
      0,
      limit - this.#runningSlots - this.#waitingSlots - this.#admittingSlots - this.requestedSlots,
    )
    const share = Math.max(Math.ceil(room / sharedBy), Math.min(Math.max(least, slots), room))
    return Math.min(Math.floor(share / slots), this.#ownRoom(task, ahead))
  }

  /** Slots for which no execution was claimed. */
  get freeCount(): number {
    const taken = this.#runningSlots + this.#waitingSlots + this.#admittingSlots + this.requestedSlots
    return Math.max(0, this.#concurrency - taken)
  }

  /** Keeps room for an execution until it is admitted or refused. */
  countAdmitting(task: ServedTask, change: 1 | -1): void {
    this.admittingCount += change
    this.#admittingSlots += change * task.slots
    task.admittingCount += change
  }

  wait(leased: LeasedExecution): void {
    leased.order = this.#nextOrder++
    this.#queues.get(leased.task)?.push(leased)
    this.#countWaiting(leased.task, 1)
  }

  /**
   * Dequeues the longest waiting execution that may start now, and occupies its slots. No later one overtakes it while it waits
   * for several slots.
   */
  start(): LeasedExecution | undefined {
    if (this.waitingCount === 0 || this.#runningSlots >= this.#concurrency) return undefined
    let first: LeasedExecution | undefined
    for (const [task, queue] of this.#queues) {
      const candidate = queue[0]
      if (candidate === undefined || task.isSaturated) continue
      if (first === undefined || candidate.order < first.order) first = candidate
    }
    if (first === undefined || this.#runningSlots + first.task.slots > this.#concurrency) return undefined
    this.#queues.get(first.task)?.shift()
    this.#countWaiting(first.task, -1)
    this.#countRunning(first.task, 1)
    return first
  }

  /** Frees the slots of a handler that has returned. */
  free(leased: LeasedExecution): void {
    this.#recentEnds.add()
    this.#countRunning(leased.task, -1)
  }

  /** Removes an execution from the queue. Returns whether it was queued. */
  withdraw(leased: LeasedExecution): boolean {
    const queue = this.#queues.get(leased.task) ?? []
    const at = queue.indexOf(leased)
    if (at === -1) return false
    queue.splice(at, 1)
    this.#countWaiting(leased.task, -1)
    return true
  }

  /** When the longest waiting execution was claimed; Infinity if none waits. */
  get waitingSince(): number {
    let since = Infinity
    for (const [first] of this.#queues.values()) if (first !== undefined) since = Math.min(since, first.claimedAt)
    return since
  }

  /** Removes the executions that have waited since before a moment. */
  withdrawWaitingSince(moment: number): LeasedExecution[] {
    const late = [...this.#queues.values()].flatMap((queue) => queue.filter((leased) => leased.claimedAt <= moment))
    for (const leased of late) this.withdraw(leased)
    if (late.length > 0) this.#isPrefetchReduced = true
    return late
  }

  /** Removes all waiting executions. */
  withdrawAll(): LeasedExecution[] {
    const withdrawn = [...this.#queues.values()].flatMap((queue) => queue.splice(0))
    for (const leased of withdrawn) this.#countWaiting(leased.task, -1)
    return withdrawn
  }

  #countRunning(task: ServedTask, change: number): void {
    this.runningCount += change
    this.#runningSlots += change * task.slots
    task.runningCount += change
  }

  #countWaiting(task: ServedTask, change: number): void {
    this.waitingCount += change
    this.#waitingSlots += change * task.slots
    task.waitingCount += change
  }

  /** The room that a task's own limit leaves. */
  #ownRoom(task: ServedTask | undefined, ahead: number): number {
    if (task?.limit === undefined) return Infinity
    const ownAhead = Math.min(ahead, task.limit)
    if (task.waitingCount > ownAhead / 2) return 0
    return Math.max(
      0,
      task.limit + ownAhead - task.runningCount - task.waitingCount - task.admittingCount - task.requestedCount,
    )
  }

  /** How many executions may be prefetched. */
  #prefetchLimit(): number {
    if (!this.#isPrefetchReduced) return this.#prefetch
    const ended = this.#recentEnds.count()
    if (ended >= this.#prefetch) this.#isPrefetchReduced = false
    return Math.min(this.#prefetch, ended)
  }
}

/** Ends are counted over the current and the previous window. */
const END_WINDOW_MS = 500

/** Counts recent ends of handlers, as an estimate of how many will end soon. */
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
