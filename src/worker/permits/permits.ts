/**
 * Admits leased executions to their limits: lease first, admit second, start third. Permits belong to the worker. It asks for those
 * of all executions of a turn together, keeps spare ones for keys in use, lends them to claims, and returns the others. An
 * execution without a permit is given back before its handler starts.
 */
import { compareRefs } from '../../client/define/limit.ts'
import type { DeclaredLimits } from '../../client/limits/declared-limits.ts'
import { keyText } from '../../client/limits/limit-keys.ts'
import { CANCEL_GRACE_DEFAULT_MS, CLAIM_PERMIT_MAX, GATE_OPEN_MAX } from '../../kernel/index.ts'
import type {
  Closing,
  ExecutionId,
  LimitKey,
  LimitRef,
  PermitRequest,
  ReturnAnswer,
  TakeAnswer,
} from '../../kernel/index.ts'
import { partitionOf } from '../../client/transport/ids.ts'
import { ChurnMap } from '../../runtime/index.ts'
import type { Timer } from '../../runtime/index.ts'
import { limitPartition } from '../../stores/partitions.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Partition } from '../../stores/store.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import { BlockedWork } from './blocked-work.ts'
import type { BlockedKey } from './blocked-work.ts'
import { Hand } from './hand.ts'
import { KeyPermits } from './key-permits.ts'
import type { Permit } from './key-permits.ts'
import { PermitDesk } from './permit-desk.ts'
import type { AskAnswer, DeskServices, Refusal } from './permit-desk.ts'
import { PermitRenewal } from './permit-renewal.ts'

/** How much longer permits are valid than leases. */
const OUTLIVES_LEASE = 1.1
/** How long permits without work are kept, and how long one permit may serve one execution after the other. */
const KEEP_MS = 1_000
/** Fewer uses than these are not worth spare permits. */
const STOCK_USES_MIN = 4
/** Spare permits of one key at most. */
const STOCK_MAX = 2_048
/** How much longer the spare permits of a key with ample room last. */
const AMPLE_STOCK = 4
/** Permits that are asked for at once for blocked work. */
const PULL_MAX = 50
/** Limits whose partitions are remembered. A lane has a limit of its own, and there may be any number of lanes. */
const KNOWN_PARTITION_MAX = 1_000

/** Requests for blocked work of one key are at least so far apart, so that permits that no claim uses cause no storm. */
const PULL_EVERY_MS = 10

export interface PermitListener {
  /** The execution may start, unless its lease is lost meanwhile. */
  readonly onAdmitted: (leased: LeasedExecution) => void
  /** The execution is to be given back. */
  readonly onRefused: (leased: LeasedExecution, refusal: Refusal) => void
  /** Permits for blocked work of the partition are free. */
  readonly onRoom: (partition: Partition) => void
  /** Calls back at the end of the turn. */
  readonly requestTurn: () => void
  /** The permits of an execution that runs have lapsed. */
  readonly onLapsed: (leased: LeasedExecution) => void
}

export interface PermitsOptions {
  readonly services: DeskServices
  readonly declared: DeclaredLimits
  readonly workerInstanceId: string
  readonly leaseTtlMs: number
  /** How many handlers could start now. */
  readonly freeSlots: () => number
}

/** An execution that waits for permits. */
interface Applicant {
  readonly leased: LeasedExecution
  /** The limits that it has no permit of yet, in the order in which they are taken. */
  left: LimitRef[]
  pendingCount: number
  refusal: Refusal | undefined
}

export class Permits {
  readonly #options: PermitsOptions
  readonly #listener: PermitListener
  readonly #keys = new Map<string, KeyPermits>()
  /** The permits of executions, by the numbers of these. */
  readonly #granted = new ChurnMap<number, readonly Permit[]>()
  #holderCount = 0
  readonly #desks = new Map<Partition, PermitDesk>()
  /** The partitions of limits. */
  readonly #partitions = new Map<string, Partition>()
  readonly #blocked = new BlockedWork()
  readonly #renewal: PermitRenewal
  /** Keys whose permits may have to be returned or stocked. */
  readonly #touched = new Set<KeyPermits>()
  #timer: Timer | undefined
  #timerAt = Infinity
  #isOpen = true

  constructor(options: PermitsOptions, listener: PermitListener) {
    this.#options = options
    this.#listener = listener
    const ttlMs = options.leaseTtlMs * OUTLIVES_LEASE
    this.#renewal = new PermitRenewal({
      services: options.services,
      workerInstanceId: options.workerInstanceId,
      ttlMs,
      leaseTtlMs: options.leaseTtlMs,
      keys: () => this.#keys.values(),
      onLapsed: (key, left, isExact) => this.#replace(key, left, isExact),
      onExcess: (key, count) => this.#returnExcess(key, count),
      onUnconfirmed: (key) => this.#giveUp(key),
    })
  }

  /** Lends free permits to a claim. */
  lend(partition: Partition, count: number): Hand | undefined {
    if (this.#keys.size === 0) return undefined
    const now = this.#now
    const hand = new Hand()
    let kinds = 0
    const number = Number(partition.slice(partition.indexOf(':') + 1))
    for (const key of this.#keys.values()) {
      if (key.free.length === 0 || !key.isUsable(now) || kinds >= CLAIM_PERMIT_MAX) continue
      const takesBlocked = this.#blocked.get(key)?.partitions.has(number) === true
      if (takesBlocked || !key.isContended) kinds += hand.lend(key, count, takesBlocked)
    }
    return hand.isEmpty ? undefined : hand
  }

  /** The keys that are known to have no permit, so that a claim skips their work. */
  exhausted(): Closing[] | undefined {
    const now = this.#now
    const closings: Closing[] = []
    for (const { key, nextAt } of this.#blocked) {
      if (!key.isContended || key.free.length > 0 || nextAt <= now || closings.length >= CLAIM_PERMIT_MAX) continue
      const retryAfterMs = nextAt === Infinity ? undefined : Math.max(1, Math.ceil(nextAt - now))
      closings.push({ limit: key.limit, key: key.key, cause: key.cause, retryAfterMs })
    }
    return closings.length === 0 ? undefined : closings
  }

  /** Takes note of the answer to a claim, after its executions were admitted. */
  claimed(partition: Partition, hand: Hand | undefined, gates: readonly LimitKey[]): void {
    const number = Number(partition.slice(partition.indexOf(':') + 1))
    for (const key of hand?.end() ?? []) this.#blocked.remove(key, number)
    for (const key of hand?.keys() ?? []) this.#touched.add(key)
    for (const { limit, key } of gates) this.#noteBlocked(this.#keyOf(limit, key), number)
  }

  /** Admits an execution: at once if permits were lent for it, or are free. Returns whether it may start now. */
  admit(leased: LeasedExecution, hand: Hand | undefined): boolean {
    const { limits, isAdmitted } = leased.claimed
    const now = hand?.admitsAt(this.#options.services.runtime) ?? this.#now
    const left: LimitRef[] = []
    for (const need of limits) {
      const permit = isAdmitted ? hand?.take(need, now) : undefined
      if (permit === undefined) left.push(need)
      else this.#grant(leased, permit, now)
    }
    if (left.length === 0) return true
    left.sort(compareRefs)
    this.#listener.requestTurn()
    return this.#apply({ leased, left, pendingCount: 0, refusal: undefined })
  }

  /**
   * Takes the permits of an execution back: its attempt has ended, or will not start here. `isCounted`: what the rate has counted
   * stays with the execution, because it has started, or continues later with no weight.
   */
  release(leased: LeasedExecution, isCounted: boolean): void {
    const { holder } = leased
    const permits = holder === undefined ? undefined : this.#granted.get(holder)
    if (holder === undefined || permits === undefined) return
    this.#granted.delete(holder)
    const now = this.#now
    for (const permit of permits) {
      permit.key.leave(permit)
      permit.isUsed ||= isCounted
      this.#putBack(permit, now)
    }
    this.#listener.requestTurn()
  }

  /** A handler holds back a key: permits of this worker start nothing until then. */
  hold(limit: string, name: string, ms: number): void {
    const key = this.#keyOf(limit, name)
    key.heldUntil = Math.max(key.heldUntil, this.#now + ms)
    this.#touched.add(key)
    this.#listener.requestTurn()
  }

  /** Notes that an execution was given back, so that work of the key is blocked in its partition. */
  noteRefused({ limit, key, cause }: Refusal, partition: Partition): void {
    if (cause === 'unknown') this.#options.declared.redeclare(limit)
    if (!this.#isOpen) return
    this.#noteBlocked(this.#keyOf(limit, key), Number(partition.slice(partition.indexOf(':') + 1)))
    this.#listener.requestTurn()
  }

  /** Runs at the end of a turn, before the claims: names the partitions whose blocked work can use free permits. */
  beforeClaims(): void {
    if (!this.#isOpen) return
    for (const blocked of this.#blocked) {
      if (blocked.key.free.length === 0) continue
      const number = BlockedWork.nextPartition(blocked)
      if (number !== undefined) this.#listener.onRoom(executionPartition(number))
    }
  }

  /** Runs at the end of a turn, after the claims: returns what nothing has used, and asks for what is needed. */
  flush(): void {
    const now = this.#now
    if (this.#isOpen) {
      for (const blocked of this.#blocked) this.#pull(blocked, now)
      for (const blocked of this.#blocked) this.#register(blocked)
    }
    for (const key of this.#touched) {
      this.#returnUnused(key, now)
      if (this.#isOpen) this.#stock(key, now)
      if (key.free.length === 0) this.#touched.delete(key)
      if (key.isIdle && this.#blocked.get(key) === undefined) this.#keys.delete(idOf(key.limit, key.key))
    }
    for (const desk of this.#desks.values()) desk.flush()
    this.#arm(now)
  }

  /** Claims nothing more: spare permits are returned. */
  stop(): void {
    this.#isOpen = false
    for (const key of this.#keys.values()) this.#touched.add(key)
    this.#listener.requestTurn()
  }

  /** Returns all permits that nothing uses any more. */
  async close(): Promise<void> {
    this.stop()
    this.flush()
    await Promise.all([...this.#desks.values()].map((desk) => desk.drain()))
  }

  /** Stops at once: the permits lapse. */
  abandon(): void {
    this.#isOpen = false
    this.#timer?.cancel()
    this.#renewal.close()
    for (const desk of this.#desks.values()) desk.abandon()
  }

  get #now(): number {
    return this.#options.services.runtime.monotonic()
  }

  /** Gets permits of the limits that are left. Under contention one after the other, in the same order for all executions. */
  #apply(applicant: Applicant): boolean {
    const now = this.#now
    const { leased } = applicant
    for (const need of [...applicant.left]) {
      const key = this.#keyOf(need.limit, need.key)
      const permit = need.instead === 'cancel' ? undefined : key.take(need.weight, now)
      if (permit === undefined) continue
      this.#grant(leased, permit, now)
      applicant.left = applicant.left.filter((other) => other !== need)
    }
    if (applicant.left.length === 0) return true
    const isContended = applicant.left.some(({ limit, key }) => this.#keyOf(limit, key).isContended)
    const asked = isContended ? applicant.left.slice(0, 1) : [...applicant.left]
    applicant.pendingCount = asked.length
    for (const need of asked) this.#ask(applicant, need)
    return false
  }

  #ask(applicant: Applicant, need: LimitRef): void {
    const key = this.#keyOf(need.limit, need.key)
    key.noteWeight(need.weight)
    const of = need.instead === 'cancel' ? applicant.leased.id : undefined
    this.#touched.add(key)
    this.#deskOf(key).ask({
      key,
      weight: need.weight,
      of,
      onAnswer: (answer) => this.#answered(applicant, need, answer),
    })
  }

  #answered(applicant: Applicant, need: LimitRef, answer: AskAnswer): void {
    const { leased } = applicant
    applicant.pendingCount -= 1
    if (answer.kind === 'refused') applicant.refusal ??= answer.refusal
    else {
      applicant.left = applicant.left.filter((other) => other !== need)
      if (answer.permit !== undefined) this.#grant(leased, answer.permit, this.#now)
    }
    if (applicant.pendingCount > 0) return
    if (applicant.refusal !== undefined) {
      this.release(leased, false)
      this.#listener.onRefused(leased, applicant.refusal)
    } else if (applicant.left.length === 0 || leased.refusal !== undefined || this.#apply(applicant)) {
      this.#listener.onAdmitted(leased)
    }
  }

  #grant(leased: LeasedExecution, permit: Permit, now: number): void {
    const { key } = permit
    const holder = (leased.holder ??= ++this.#holderCount)
    const others = this.#granted.get(holder)
    this.#granted.set(holder, others === undefined ? [permit] : [...others, permit])
    key.use(permit, leased)
    key.noteWeight(permit.weight)
    key.noteUse(now)
    this.#touched.add(key)
  }

  /** An execution holds another permit of a key instead of the one that has lapsed. */
  #exchange(lapsed: Permit, permit: Permit): void {
    const leased = lapsed.user
    const permits = leased?.holder === undefined ? undefined : this.#granted.get(leased.holder)
    if (leased?.holder === undefined || permits === undefined) {
      // It has ended meanwhile.
      this.#putBack(permit, this.#now)
      return
    }
    const exchanged = permits.map((other) => (other === lapsed ? permit : other))
    this.#granted.set(leased.holder, exchanged)
    permit.key.leave(lapsed)
    permit.key.use(permit, leased)
    this.#touched.add(permit.key)
  }

  /** A permit without a rate may serve again, for a while: then others get their turn. */
  #putBack(permit: Permit, now: number): void {
    const { key } = permit
    if (permit.generation !== key.generation) return
    this.#touched.add(key)
    const isKept = !permit.isUsed || (key.isReusable && permit.of === undefined)
    if (isKept && this.#isOpen && key.isUsable(now) && now - permit.takenOn < KEEP_MS) key.putFree(permit)
    else this.#deskOf(key).giveBack(permit, key.isContended || !this.#isOpen)
  }

  #returnUnused(key: KeyPermits, now: number): void {
    const keepsAny = this.#isOpen && !key.isContended && key.isUsable(now)
    if (keepsAny && now - key.freeSince < KEEP_MS) return
    const dropped = key.dropFree((permit) => keepsAny && now - permit.takenOn < KEEP_MS)
    for (const permit of dropped) this.#deskOf(key).giveBack(permit, key.isContended || !this.#isOpen)
  }

  /** Keeps as many permits ready as were used in the last moments, or several times as many if others do not miss them. */
  #stock(key: KeyPermits, now: number): void {
    if (key.isContended || key.stockedCount > 0 || now < Math.max(key.heldUntil, key.stockFrom)) return
    const uses = key.recentUses(now)
    const stock = Math.min(STOCK_MAX, key.ample > uses ? uses * AMPLE_STOCK : uses)
    const ready = key.free.length + key.lentCount
    if (uses < STOCK_USES_MIN || ready >= stock / 2) return
    const spare = stock - ready
    key.stockedCount += spare
    const onEnd = () => void (key.stockedCount -= spare)
    this.#deskOf(key).ask({ key, weight: key.weight, spare, onEnd })
  }

  /** Asks for permits when there may be some, for as many handlers as could start. */
  #pull(blocked: BlockedKey, now: number): void {
    const { key, weight, nextAt, permits } = blocked
    const count = Math.min(PULL_MAX, permits, this.#options.freeSlots())
    if (blocked.isAsking || weight === undefined || nextAt > now || count <= 0) return
    const earliest = Math.max(key.heldUntil, blocked.askedAt + PULL_EVERY_MS)
    if (now < earliest) {
      blocked.nextAt = earliest
      return
    }
    blocked.isAsking = true
    blocked.askedAt = now
    blocked.nextAt = Infinity
    this.#touched.add(key)
    const onAnswer = (answer: AskAnswer) => {
      if (answer.kind === 'granted' && answer.permit !== undefined) key.putFree(answer.permit)
      // A limit that limits nothing any more blocks nothing.
      if (answer.kind === 'granted' && answer.permit === undefined) this.#openGates(key, [...blocked.partitions], 1)
    }
    for (let i = 0; i < count; i++) {
      const onEnd = i > 0 ? undefined : () => void (blocked.isAsking = false)
      this.#deskOf(key).ask({ key, weight, onAnswer, ...(onEnd === undefined ? {} : { onEnd }) })
    }
  }

  /** Registers the partitions that wait with the limit, so that a return names them. */
  #register(blocked: BlockedKey): void {
    for (const waitingIn of blocked.unregistered) {
      this.#deskOf(blocked.key).ask({ key: blocked.key, weight: blocked.nextWeight, waitingIn })
    }
    blocked.unregistered.clear()
  }

  #noteBlocked(key: KeyPermits, partition: number): void {
    key.isContended = true
    this.#blocked.add(key, partition)
    this.#touched.add(key)
  }

  #taken(key: KeyPermits, answer: TakeAnswer, { weight, needed, spare }: PermitRequest): void {
    if (key.held > 0) this.#renewal.keep(key)
    key.noteRoom(answer, answer.granted < needed + spare, this.#now)
    key.isReusable = answer.isReusable
    key.isContended = answer.isAwaited || answer.refusal !== undefined
    if (answer.refusal !== undefined) key.cause = answer.refusal.cause
    const blocked = this.#blocked.get(key)
    if (answer.givesWay !== undefined) void this.#cancel(answer.givesWay, key)
    if (blocked === undefined) return
    this.#blocked.expect(key, answer.next, this.#now)
    if (needed > 0) blocked.nextWeight = weight
    if (weight !== blocked.nextWeight) return
    // Work of different weights is released in its order, and asks for itself.
    const next = answer.next
    const [number] = blocked.partitions
    if (blocked.weight !== undefined || next === undefined || number === undefined) return
    this.#openGates(key, [BlockedWork.nextPartition(blocked) ?? number], next.permits, next.afterMs)
  }

  #returned({ limit, key, wakes }: ReturnAnswer): void {
    if (wakes.length === 0) return
    const known = this.#keyOf(limit, key)
    for (const { partition, permits } of wakes) this.#openGates(known, [partition], permits)
  }

  /** Releases blocked work. If the call fails, the gates open later by themselves. */
  #openGates(key: KeyPermits, partitions: readonly number[], permits: number, afterMs = 0): void {
    const { services } = this.#options
    const gates = [{ limit: key.limit, key: key.key, permits, afterMs }].slice(0, GATE_OPEN_MAX)
    for (const number of partitions) {
      const partition = executionPartition(number)
      const call = () => services.batcher.run(partition, 'openGates', { gates })
      void retryUntilAnswered(services, { partition, refusal: undefined }, call).catch(() => undefined)
    }
  }

  /** Requests the cancel of an execution that gives way. */
  async #cancel(executionId: ExecutionId, { limit, key }: KeyPermits): Promise<void> {
    const { services } = this.#options
    const partition = partitionOf(executionId)
    const reason = `a later execution needs the permit of limit ${limit}${keyText(key)}`
    const input = { executionId, reason, by: 'limit', force: false, graceMs: CANCEL_GRACE_DEFAULT_MS }
    const call = () => services.batcher.run(partition, 'cancelExecution', input)
    await retryUntilAnswered(services, { partition, refusal: undefined }, call).catch(() => undefined)
  }

  /**
   * Permits of a key have lapsed, such as those of a limit that was deleted: those that are left stay with executions that run, and
   * the other executions ask again, without being counted in the rate again.
   */
  #replace(key: KeyPermits, left: number, isExact: boolean): void {
    const { lostAt } = key
    const used = [...key.used]
    key.lapse()
    if (left > 0) key.lostAt = lostAt
    for (const [i, lapsed] of used.entries()) {
      if (i < left) {
        key.held += 1
        this.#exchange(lapsed, { ...lapsed, generation: key.generation })
        continue
      }
      const onAnswer = (answer: AskAnswer) => {
        if (answer.kind === 'granted' && answer.permit !== undefined) this.#exchange(lapsed, answer.permit)
        else if (answer.kind === 'refused' && lapsed.user !== undefined) this.#listener.onLapsed(lapsed.user)
      }
      this.#deskOf(key).ask({ key, weight: 0, onAnswer })
    }
    if (isExact) this.#deskOf(key).giveBackStray(key, left - key.held)
    this.#listener.requestTurn()
  }

  /** Returns permits that were granted by calls whose outcome this worker has never learnt. */
  #returnExcess(key: KeyPermits, count: number): void {
    this.#deskOf(key).giveBackStray(key, count)
    this.#listener.requestTurn()
  }

  /** The permits of a key could not be renewed in time: other workers may have them. */
  #giveUp(key: KeyPermits): void {
    const users = key.used.flatMap(({ user }) => user ?? [])
    key.lapse()
    for (const leased of users) this.#listener.onLapsed(leased)
    this.#listener.requestTurn()
  }

  #keyOf(limit: string, key: string): KeyPermits {
    const id = idOf(limit, key)
    let found = this.#keys.get(id)
    if (found === undefined) {
      found = new KeyPermits(limit, key, this.#partitionOf(limit))
      this.#keys.set(id, found)
      this.#touched.add(found)
    }
    return found
  }

  #partitionOf(limit: string): Partition {
    let partition = this.#partitions.get(limit)
    if (partition === undefined) {
      if (this.#partitions.size >= KNOWN_PARTITION_MAX) this.#partitions.clear()
      partition = limitPartition(limit, this.#options.services.batcher.store.settings)
      this.#partitions.set(limit, partition)
    }
    return partition
  }

  #deskOf({ partition }: KeyPermits): PermitDesk {
    let desk = this.#desks.get(partition)
    if (desk === undefined) {
      const { services, workerInstanceId, leaseTtlMs } = this.#options
      desk = new PermitDesk({
        services,
        partition,
        workerInstanceId,
        ttlMs: Math.ceil(leaseTtlMs * OUTLIVES_LEASE),
        safeMs: leaseTtlMs,
        onTaken: (key, answer, request) => this.#taken(key, answer, request),
        onUnconfirmed: (key) => this.#giveUp(key),
        onReturned: (answer) => this.#returned(answer),
        onRound: () => this.#listener.requestTurn(),
      })
      this.#desks.set(partition, desk)
    }
    return desk
  }

  /** Wakes up for blocked work that may get permits, and for free permits that are to be returned. */
  #arm(now: number): void {
    if (!this.#isOpen) return
    let at = this.#options.freeSlots() > 0 ? this.#blocked.nextAt : Infinity
    if (this.#touched.size > 0) at = Math.min(at, now + KEEP_MS)
    if (at === Infinity || (this.#timer !== undefined && this.#timerAt <= at)) return
    this.#timer?.cancel()
    this.#timerAt = at
    this.#timer = this.#options.services.runtime.after(Math.max(0, at - now), () => {
      this.#timer = undefined
      this.#timerAt = Infinity
      this.#listener.requestTurn()
    })
  }
}

function idOf(limit: string, key: string): string {
  return `${limit} ${key}`
}
