/**
 * A worker process that follows the protocol of limits: lease first, ask for permits second, start third. Permits are renewed
 * before the leases that they cover, and returned when the handler has ended. A return that makes room opens the gates.
 */
import type { Claimed, LimitRef } from '../../../src/kernel/index.ts'
import type { PermitReturn } from '../../../src/kernel/index.ts'
import { executionPartition } from '../../../src/stores/store.ts'
import type { Partition } from '../../../src/stores/store.ts'
import type { Chance } from '../chance.ts'
import { Permits } from './permits.ts'
import type { Permit, Spare } from './permits.ts'
import { call, callSoon, sleep } from './strand.ts'
import type { Steps, Strand } from './strand.ts'

export const LIMIT_PARTITION: Partition = 'q:0'
const LEASE_TTL_MS = 4_000
/** Permits outlive the leases that are taken with them, also if they were renewed a while before. */
export const PERMIT_TTL_MS = 1.5 * LEASE_TTL_MS
/** Leases are not renewed by permits that were confirmed longer ago. */
const FRESH_MS = 0.3 * LEASE_TTL_MS
const SLOTS = 4
const SPARE_PERMITS = 6

/** What a worker sees of its world. */
export interface Surroundings {
  readonly now: number
  readonly partitions: number
  readonly pace: number
  readonly queues: readonly { readonly lane: string; readonly class: string }[]
  uuid(): string
  hasRate(limit: string): boolean
  spawn(owner: string, strand: Strand): void
}

/** A handler that runs. */
export interface Body {
  readonly claimed: Claimed
  readonly permits: readonly Permit[]
  isLost: boolean
}

export class LimitWorker {
  readonly id: string
  readonly bodies = new Set<Body>()
  readonly #world: Surroundings
  readonly #chance: Chance
  readonly #permits: Permits
  #leased = 0

  constructor(world: Surroundings, id: string, chance: Chance) {
    this.#world = world
    this.id = id
    this.#chance = chance
    this.#permits = new Permits(PERMIT_TTL_MS)
  }

  strands(): Strand[] {
    return [this.#claims(), this.#renewals()]
  }

  *#claims(): Strand {
    for (;;) {
      if (this.#leased < SLOTS) yield* this.#claim()
      yield* sleep(this.#world.pace * this.#chance.between(10, 400))
      if (this.#chance.happens(0.2)) yield* this.#return(this.#permits.spares())
    }
  }

  *#claim(): Strand {
    const world = this.#world
    const partition = executionPartition(this.#chance.between(0, world.partitions - 1))
    const hand = this.#permits.takeSpares(world.now, FRESH_MS)
    const claims = yield* callSoon(partition, 'claimForWorker', {
      requestId: world.uuid(),
      workerId: 'pool',
      workerInstanceId: this.id,
      queues: world.queues,
      count: SLOTS - this.#leased,
      leaseTtlMs: LEASE_TTL_MS,
      seed: this.#chance.between(0, 1_000_000),
      permits: hand.map(({ limit, key, weight, count }) => ({ limit, key, weight, count, takesBlocked: true })),
    })
    const left = hand.map((spare) => ({ spare, count: spare.count }))
    const admitted: { readonly claimed: Claimed; readonly permits: Permit[] | undefined }[] = []
    for (const claimed of claims?.executions ?? []) {
      const permits = claimed.limits.flatMap((needed) => {
        const place = left.find(({ spare, count }) => count > 0 && isOf(spare, needed))
        if (place === undefined || !claimed.isAdmitted) return []
        place.count -= 1
        return [place.spare]
      })
      admitted.push({ claimed, permits: claimed.isAdmitted ? permits : undefined })
    }
    for (const { spare, count } of left) if (count > 0) this.#permits.spare(spare, count)
    for (const { claimed, permits } of admitted) {
      this.#leased += 1
      world.spawn(this.id, this.#handle(claimed, permits))
    }
  }

  *#renewals(): Strand {
    for (;;) {
      yield* sleep(LEASE_TTL_MS / 4)
      for (const body of this.bodies) {
        if (!body.isLost && (yield* this.#renewPermits()) && this.#holdsAll(body)) yield* this.#renewLease(body)
      }
    }
  }

  /** Returns whether the permits of all bodies are fresh. */
  *#renewPermits(): Steps<boolean> {
    const keys = this.#permits.keys()
    const now = this.#world.now
    const isFresh = () => keys.every((key) => this.#permits.isFresh(key, this.#world.now, FRESH_MS))
    if (keys.length === 0 || isFresh()) return true
    const input = { workerInstanceId: this.id, ttlMs: PERMIT_TTL_MS, keys }
    const renewed = yield* callSoon(LIMIT_PARTITION, 'renewPermits', input)
    if (renewed === undefined) return false
    for (const [i, key] of keys.entries()) {
      if ((renewed.left[i] ?? 0) >= this.#permits.countOf(key)) this.#permits.confirm(key, now)
      else this.#permits.lapse(key)
    }
    return isFresh()
  }

  *#renewLease(body: Body): Strand {
    const { executionId, fence } = body.claimed
    const input = { executionId, fence, leaseTtlMs: LEASE_TTL_MS }
    const renewed = yield* callSoon(partitionOf(executionId), 'renewLease', input)
    if (renewed?.kind === 'refused') body.isLost = true
  }

  /** `atHand` are the permits with which the claim has admitted it. */
  *#handle(claimed: Claimed, atHand: readonly Permit[] | undefined): Strand {
    const begun = this.#world.now
    const permits = atHand ?? (claimed.limits.length === 0 ? [] : yield* this.#ask(claimed))
    if (permits === undefined) {
      this.#leased -= 1
      return
    }
    // A lease that may be over begins nothing.
    const body: Body = { claimed, permits, isLost: this.#world.now - begun > LEASE_TTL_MS / 2 }
    this.bodies.add(body)
    const until = this.#world.now + this.#chance.between(20, this.#chance.happens(0.1) ? 9_000 : 900)
    while (this.#world.now < until && this.#holdsAll(body)) yield* sleep(200)
    this.bodies.delete(body)
    if (this.#holdsAll(body)) yield* this.#end(claimed)
    this.#leased -= 1
    yield* this.#giveBack(permits)
  }

  /** A handler whose permit may be with others must stop. */
  #holdsAll(body: Body): boolean {
    this.#permits.lapseOld(this.#world.now)
    if (!body.permits.every((permit) => this.#permits.has(permit))) body.isLost = true
    return !body.isLost
  }

  /** Asks for all permits that the execution needs. Without one of them, gives all back, and the execution too. */
  *#ask(claimed: Claimed): Steps<Permit[] | undefined> {
    const world = this.#world
    const { executionId, fence, limits } = claimed
    const requests = limits.map((needed) => ({
      ...needed,
      needed: 1,
      spare: world.hasRate(needed.limit) ? 0 : SPARE_PERMITS,
      waitingIn: this.#chance.happens(0.9) ? numberOf(executionId) : undefined,
    }))
    const now = world.now
    this.#permits.lapseOld(now)
    const input = { requestId: world.uuid(), workerInstanceId: this.id, ttlMs: PERMIT_TTL_MS, requests }
    const { answers } = yield* call(LIMIT_PARTITION, 'takePermits', input)
    const got: { readonly permit: Permit; readonly takenAt: number }[] = []
    for (const [i, needed] of limits.entries()) {
      const { granted = 0, isCounted = false, takenAt = 0 } = answers[i] ?? {}
      if (granted > 0 && isCounted) got.push({ permit: this.#permits.take(needed, granted, now), takenAt })
    }
    const refused = answers.find(({ granted }) => granted === 0)
    if (refused === undefined) return got.map(({ permit }) => permit)
    for (const { permit, takenAt } of got) {
      yield* this.#return([{ ...permit, count: 1, unused: { count: 1, weight: permit.weight, takenAt } }])
    }
    const { limit, key, refusal, next } = refused
    const cause = refusal?.cause ?? 'concurrency'
    const closing = { executionId, fence, limit, key, cause, retryAfterMs: next?.afterMs }
    yield* call(partitionOf(executionId), 'blockExecution', closing)
    return undefined
  }

  *#end({ executionId, fence }: Claimed): Strand {
    const partition = partitionOf(executionId)
    const fate = this.#chance.fraction()
    if (fate < 0.75) yield* call(partition, 'completeExecution', { executionId, fence })
    else if (fate < 0.85) {
      const failure = { category: 'transient', message: 'It fails at times.', stack: undefined }
      yield* call(partition, 'failExecution', { executionId, fence, failure, seed: 1 })
    } else if (fate < 0.93) yield* call(partition, 'releaseExecution', { executionId, fence, reason: 'shutdown' })
    else yield* call(partition, 'delayExecution', { executionId, fence, delayMs: 500 })
  }

  /** Some permits are kept for the next execution of the key. One of a rate counts for one start. */
  *#giveBack(permits: readonly Permit[]): Strand {
    for (const permit of permits) {
      if (!this.#world.hasRate(permit.limit) && this.#chance.happens(0.5)) this.#permits.spare(permit)
      else yield* this.#return([{ ...permit, count: 1 }])
    }
  }

  /** Returns those that have not lapsed. */
  *#return(all: readonly (Spare & Pick<PermitReturn, 'unused'>)[]): Strand {
    this.#permits.lapseOld(this.#world.now)
    const held = all.filter((permit) => this.#permits.remove(permit, permit.count))
    if (held.length === 0) return
    const returns = held.map(({ limit, key, count, unused }) => ({ limit, key, count, unused }))
    const input = { requestId: this.#world.uuid(), workerInstanceId: this.id, returns }
    const { answers } = yield* call(LIMIT_PARTITION, 'returnPermits', input)
    for (const { limit, key, wakes } of answers) {
      for (const { partition, permits } of wakes) {
        yield* call(executionPartition(partition), 'openGates', { gates: [{ limit, key, permits, afterMs: 0 }] })
      }
    }
  }
}

function isOf(permit: Permit, { limit, key, weight }: LimitRef): boolean {
  return permit.limit === limit && permit.key === key && permit.weight === weight
}

function numberOf(executionId: string): number {
  return Number(executionId.split('-')[0])
}

export function partitionOf(executionId: string): Partition {
  return executionPartition(numberOf(executionId))
}
