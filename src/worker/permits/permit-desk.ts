/**
 * Takes and returns the permits of the limits in one partition. One round is under way at a time, so that a call whose reply was
 * lost can be repeated: no other call of this worker comes between. What is asked for meanwhile shares the next round.
 */
import { PERMIT_REQUEST_MAX } from '../../kernel/index.ts'
import type {
  ExecutionId,
  LimitCause,
  PermitRequest,
  PermitReturn,
  ReturnAnswer,
  TakeAnswer,
} from '../../kernel/index.ts'
import type { Runtime, Timer } from '../../runtime/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import type { Partition } from '../../stores/store.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import type { RetryServices } from '../store/retry-until-answered.ts'
import type { KeyPermits, Permit } from './key-permits.ts'

/** Requests and returns of one key in one round. A holding remembers a few more, so that all can be repeated. */
const KEY_ROUND_MAX = 6
/** Requests of one round. */
const ROUND_MAX = 8 * PERMIT_REQUEST_MAX
/** How long returned permits wait for a round, unless other work waits for them. */
const RETURN_AFTER_MS = 50
/** The same for keys with ample room. */
const AMPLE_RETURN_AFTER_MS = 500
/** Returned permits that wait for a round at most. Those of one key share a return. */
const RETURN_MAX = 2_048
/** When work asks again whose permits have lapsed before their answer came. */
const LATE_RETRY_MS = 100

/** Why there is no permit. */
export interface Refusal {
  readonly limit: string
  readonly key: string
  readonly cause: LimitCause
  readonly retryAfterMs: number | undefined
}

/** The answer to one execution: a permit, nothing if the limit limits nothing, or a refusal. */
export type AskAnswer =
  | { readonly kind: 'granted'; readonly permit: Permit | undefined }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/** A request of this worker for permits of a key. */
export interface Ask {
  readonly key: KeyPermits
  readonly weight: number
  /** The execution, if it gives way to later ones. */
  readonly of?: ExecutionId | undefined
  /** The execution partition that has blocked work. */
  readonly waitingIn?: number | undefined
  /** Permits for work to come, which share the request. */
  readonly spare?: number | undefined
  /** Called once for each permit that is needed. */
  readonly onAnswer?: (answer: AskAnswer) => void
  /** Called when the request has an answer. */
  readonly onEnd?: () => void
}

export interface DeskServices extends RetryServices {
  readonly batcher: Batcher
}

export interface DeskOptions {
  readonly services: DeskServices
  readonly partition: Partition
  readonly workerInstanceId: string
  readonly ttlMs: number
  /** How long permits are valid for certain after they were asked for. */
  readonly safeMs: number
  readonly onTaken: (key: KeyPermits, answer: TakeAnswer, request: PermitRequest) => void
  /** The permits that the worker has of the key may have lapsed before others were taken. */
  readonly onUnconfirmed: (key: KeyPermits) => void
  readonly onReturned: (answer: ReturnAnswer) => void
  /** A round has ended. */
  readonly onRound: () => void
}

interface Stray {
  readonly key: KeyPermits
  readonly count: number
  readonly generation: number
}

/** One return of a round. */
interface Return {
  readonly key: KeyPermits
  readonly generation: number
  /** How many permits of the worker it has, or strays. */
  readonly count: number
  readonly content: PermitReturn
}

/** One request of a round, with the asks that share it. */
interface Request {
  readonly key: KeyPermits
  readonly weight: number
  readonly of: ExecutionId | undefined
  readonly asks: Ask[]
}

export class PermitDesk {
  readonly #options: DeskOptions
  readonly #runtime: Runtime
  #asks: Ask[] = []
  #returns: Permit[] = []
  /** The keys of these returns. */
  #returnedKeys = new Set<KeyPermits>()
  /** Permits that the store counts and this worker does not know. */
  #strays: Stray[] = []
  #isBusy = false
  #isUrgent = false
  /** Another process may miss one of the returns. */
  #isSoon = false
  #timer: Timer | undefined
  #timerMs = 0
  #idle: (() => void)[] = []

  constructor(options: DeskOptions) {
    this.#options = options
    this.#runtime = options.services.runtime
  }

  get isIdle(): boolean {
    return !this.#isBusy && this.#asks.length + this.#returns.length + this.#strays.length === 0
  }

  ask(ask: Ask): void {
    ask.key.askedCount += 1
    ask.key.changeCount += 1
    this.#asks.push(ask)
    this.#isUrgent = true
  }

  /** Returns a permit with the next round. It is not counted as held any more. */
  giveBack(permit: Permit, isUrgent: boolean): void {
    if (permit.generation !== permit.key.generation) return
    permit.key.lower(1)
    permit.key.returningCount += 1
    permit.key.changeCount += 1
    this.#returns.push(permit)
    this.#returnedKeys.add(permit.key)
    if (isUrgent) this.#isUrgent = true
    if (permit.key.returningCount > permit.key.ample) this.#isSoon = true
  }

  /** Returns permits that the store may count and this worker does not know. */
  giveBackStray(key: KeyPermits, count: number): void {
    if (count <= 0) return
    key.returningCount += count
    key.changeCount += 1
    this.#strays.push({ key, count, generation: key.generation })
    this.#isUrgent = true
  }

  /** Sends what is urgent; the rest waits a moment for company. */
  flush(): void {
    if (this.#isBusy) return
    const isFull = this.#returns.length >= RETURN_MAX || this.#returnedKeys.size >= PERMIT_REQUEST_MAX
    if (this.#isUrgent || isFull) {
      void this.#run()
      return
    }
    if (this.#returns.length === 0) return
    const afterMs = this.#isSoon ? RETURN_AFTER_MS : AMPLE_RETURN_AFTER_MS
    if (this.#timer !== undefined && afterMs >= this.#timerMs) return
    this.#timer?.cancel()
    this.#timerMs = afterMs
    this.#timer = this.#runtime.after(afterMs, () => {
      this.#timer = undefined
      if (!this.#isBusy) void this.#run()
    })
  }

  /** Resolves when everything was sent. */
  async drain(): Promise<void> {
    this.#isUrgent = true
    this.flush()
    while (!this.isIdle) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  abandon(): void {
    this.#timer?.cancel()
    this.#asks = []
    this.#returns = []
    this.#returnedKeys = new Set()
    this.#strays = []
    this.#endIdle()
  }

  async #run(): Promise<void> {
    this.#isBusy = true
    this.#timer?.cancel()
    this.#timer = undefined
    try {
      do {
        this.#isUrgent = false
        this.#isSoon = false
        await this.#round()
        this.#options.onRound()
        // What did not fit is urgent, too.
        if (this.#asks.length + this.#strays.length > 0) this.#isUrgent = true
      } while (this.#isUrgent && !this.#options.services.stopped.aborted)
    } finally {
      this.#isBusy = false
      this.flush()
      if (this.isIdle || this.#options.services.stopped.aborted) this.#endIdle()
    }
  }

  #endIdle(): void {
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  /** Returns come first, so that their room can be taken in the same round. */
  async #round(): Promise<void> {
    const room = new Map<KeyPermits, number>()
    const returns = this.#takeReturns(room)
    const requests = this.#takeRequests(room)
    await Promise.all([
      ...chunks(returns).map((part) => this.#sendReturns(part)),
      ...chunks(requests).map((part) => this.#sendRequests(part)),
    ])
  }

  #takeReturns(room: Map<KeyPermits, number>): Return[] {
    const now = this.#runtime.monotonic()
    const groups = new Map<KeyPermits | string, { readonly key: KeyPermits; readonly permits: Permit[] }>()
    const later: Permit[] = []
    for (const permit of this.#returns) {
      const { key, weight, takenAt, isUsed } = permit
      // What has lapsed is not returned: in the store, others that were taken since would be.
      if (hasLapsed(permit, now)) {
        key.returningCount -= 1
        continue
      }
      // All used ones of a key share a return. The others say when they were taken.
      const id = isUsed ? key : [key.limit, key.key, `${weight}@${takenAt}`].join(' ')
      const group = groups.get(id)
      if (group !== undefined) group.permits.push(permit)
      else if (groups.size < ROUND_MAX && hasRoom(room, key)) groups.set(id, { key, permits: [permit] })
      else later.push(permit)
    }
    this.#returns = later
    this.#returnedKeys = new Set(later.map(({ key }) => key))
    if (later.length > 0) this.#isUrgent = true
    const strays: Return[] = []
    for (const stray of this.#strays.splice(0)) {
      const { key, count } = stray
      if (hasLapsed(stray, now)) key.returningCount -= count
      else strays.push({ ...stray, content: { limit: key.limit, key: key.key, count } })
    }
    const own = [...groups.values()].map(({ key, permits }): Return => {
      return { key, generation: key.generation, count: permits.length, content: returnOf(key, permits) }
    })
    return [...strays, ...own]
  }

  #takeRequests(room: Map<KeyPermits, number>): Request[] {
    const requests = new Map<string, Request>()
    const later: Ask[] = []
    for (const ask of this.#asks) {
      const { key, weight, of, waitingIn } = ask
      const id = [key.limit, key.key, weight, of ?? '', ask.onAnswer === undefined ? (waitingIn ?? '') : ''].join(' ')
      const request = requests.get(id)
      if (request !== undefined) request.asks.push(ask)
      else if (requests.size < ROUND_MAX && hasRoom(room, key)) requests.set(id, { key, weight, of, asks: [ask] })
      else later.push(ask)
    }
    this.#asks = later
    return [...requests.values()]
  }

  async #sendReturns(returns: readonly Return[]): Promise<void> {
    const { services, partition, workerInstanceId, onReturned } = this.#options
    const requestId = this.#runtime.uuid()
    try {
      const call = () => {
        // What has lapsed meanwhile is not returned by a repetition, which keeps the place of each return.
        const now = this.#runtime.monotonic()
        const contents = returns.map((one) => (hasLapsed(one, now) ? { ...one.content, count: 0 } : one.content))
        return services.batcher.run(partition, 'returnPermits', { requestId, workerInstanceId, returns: contents })
      }
      const { result } = await retryUntilAnswered(services, { partition, refusal: undefined }, call)
      for (const answer of result.answers) onReturned(answer)
    } catch {
      // The worker has stopped, or the store refuses the call: the permits lapse, or a renewal finds them.
    } finally {
      for (const { key, count } of returns) key.returningCount -= count
    }
  }

  async #sendRequests(requests: readonly Request[]): Promise<void> {
    const { services, partition, workerInstanceId, ttlMs } = this.#options
    const sentAt = this.#runtime.monotonic()
    const input = { requestId: this.#runtime.uuid(), workerInstanceId, ttlMs, requests: requests.map(requestOf) }
    let answers: readonly TakeAnswer[] = []
    try {
      const call = () => services.batcher.run(partition, 'takePermits', input)
      answers = (await retryUntilAnswered(services, { partition, refusal: undefined }, call)).result.answers
    } catch {
      // The worker has stopped, or the store refuses the call: what was asked for waits.
    }
    for (const [i, request] of requests.entries()) this.#answer(request, answers[i], sentAt)
  }

  #answer(request: Request, answer: TakeAnswer | undefined, sentAt: number): void {
    const { key, weight, of, asks } = request
    const { limit, key: name } = key
    key.askedCount -= asks.length
    if (answer === undefined) {
      this.#refuse({ limit, key: name, cause: 'unknown', retryAfterMs: undefined }, asks)
      return
    }
    const permits: Permit[] = []
    if (answer.isCounted && answer.granted > 0) {
      const now = this.#runtime.monotonic()
      if (now >= key.lostAt) this.#options.onUnconfirmed(key)
      // An answer may come so late that its permits have lapsed. If they have not, a renewal finds them.
      if (now >= Math.max(key.lostAt, sentAt + this.#options.safeMs)) {
        this.#refuse({ limit, key: name, cause: 'concurrency', retryAfterMs: LATE_RETRY_MS }, asks)
        return
      }
      key.lostAt = Math.max(key.lostAt, sentAt + this.#options.safeMs)
      key.held += answer.granted
      const { takenAt } = answer
      const { generation } = key
      for (let i = 0; i < answer.granted; i++) {
        permits.push({
          key,
          weight,
          takenAt,
          takenOn: sentAt,
          generation,
          of,
          isUsed: false,
          user: undefined,
          place: -1,
        })
      }
    }
    this.#options.onTaken(key, answer, requestOf(request))
    let left = answer.granted
    for (const { onAnswer } of asks) {
      if (onAnswer === undefined) continue
      if (left > 0) onAnswer({ kind: 'granted', permit: permits.shift() })
      else onAnswer({ kind: 'refused', refusal: refusalOf(answer) })
      left -= 1
    }
    for (const permit of permits) key.putFree(permit)
    for (const { onEnd } of asks) onEnd?.()
  }

  #refuse(refusal: Refusal, asks: readonly Ask[]): void {
    for (const { onAnswer, onEnd } of asks) {
      onAnswer?.({ kind: 'refused', refusal })
      onEnd?.()
    }
  }
}

/** Permits of an earlier generation have lapsed, and the others when they were not renewed in time. */
function hasLapsed(
  { key, generation }: { readonly key: KeyPermits; readonly generation: number },
  now: number,
): boolean {
  return generation !== key.generation || now >= key.lostAt
}

function hasRoom(room: Map<KeyPermits, number>, key: KeyPermits): boolean {
  const used = room.get(key) ?? 0
  room.set(key, used + 1)
  return used < KEY_ROUND_MAX
}

function returnOf(key: KeyPermits, permits: readonly Permit[]): PermitReturn {
  const [first] = permits
  const of = permits.flatMap((permit) => (permit.of === undefined ? [] : [permit.of]))
  const isUnused = first !== undefined && !first.isUsed
  return {
    limit: key.limit,
    key: key.key,
    count: permits.length,
    of: of.length === 0 ? undefined : of,
    unused: isUnused ? { count: permits.length, weight: first.weight, takenAt: first.takenAt } : undefined,
  }
}

function requestOf({ key: { limit, key }, weight, of, asks }: Request): PermitRequest {
  const needed = asks.filter(({ onAnswer }) => onAnswer !== undefined).length
  const spare = asks.reduce((sum, ask) => sum + (ask.spare ?? 0), 0)
  const waitingIn = asks.find((ask) => ask.waitingIn !== undefined)?.waitingIn
  return { limit, key, weight, needed, spare, waitingIn, of }
}

function refusalOf({ limit, key, refusal }: TakeAnswer): Refusal {
  return { limit, key, cause: refusal?.cause ?? 'concurrency', retryAfterMs: refusal?.retryAfterMs }
}

function chunks<T>(list: readonly T[]): (readonly T[])[] {
  const parts: (readonly T[])[] = []
  for (let i = 0; i < list.length; i += PERMIT_REQUEST_MAX) parts.push(list.slice(i, i + PERMIT_REQUEST_MAX))
  return parts
}
