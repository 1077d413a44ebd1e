/**
 * Takes permits for a worker process: the only admission to a limit. Each request is decided in the same order: a repetition gets
 * its earlier answer, the window is trimmed, then the hold, the rate and the cap decide. A refused request leaves no trace but
 * the partition that waits.
 */
import { dropHolding, gaugeOf, limitNamed, pastRequest, rememberRequest } from '../../lifecycle/limits/gauges.ts'
import type { LimitKey } from '../../lifecycle/limits/gauges.ts'
import {
  CLAIM_DUE_COUNT,
  HOLDER_MAX,
  LIMIT_PROBE_MS,
  PERMIT_REQUEST_MAX,
  RUNNER_MAX,
  SPARE_PERMIT_SHARE,
  WAITING_PARTITION_MAX,
} from '../../limits.ts'
import { holdingId, timersIndex } from '../../model/indexes.ts'
import type { ExecutionId } from '../../model/base-records.ts'
import type { Gauge, Holding, Limit, Runner } from '../../model/limit-schema.ts'
import { joinName } from '../../model/names.ts'
import type { Instant } from '../../model/records.ts'
import { UNLIMITED, nextRoom, roomOf, weightUnder } from '../../rules/limit-usage.ts'
import type { LimitRefusal, NextRoom, Room } from '../../rules/limit-usage.ts'
import { addToWindow } from '../../rules/sliding-window.ts'
import type { Tx } from '../../tx.ts'

export interface PermitRequest extends LimitKey {
  /** What each of the permits weighs in the window of the rate. */
  readonly weight: number
  /** Permits for work that can start at once. */
  readonly needed: number
  /** Further permits at most, for work to come. */
  readonly spare: number
  /** The number of the execution partition that has blocked work of this key, and is named when a return makes room. */
  readonly waitingIn?: number | undefined
  /** The only execution that the permit is for, if it gives way to later ones and earlier ones to it. */
  readonly of?: ExecutionId | undefined
}

export interface TakeInput {
  /** Minted by the caller, the same for every repetition of the call. */
  readonly requestId: string
  readonly workerInstanceId: string
  /** How long the permits are valid without a renewal. */
  readonly ttlMs: number
  readonly requests: readonly PermitRequest[]
}

export interface TakeAnswer extends LimitKey {
  /** Permits taken: those needed, as far as there is room, and some of the spare ones. */
  readonly granted: number
  /** Identifies the permits when they are returned unused. */
  readonly takenAt: Instant
  /** Set if fewer were granted than needed. */
  readonly refusal: LimitRefusal | undefined
  /** When blocked work should ask again, and for how many permits. Absent if only a release makes room. */
  readonly next: NextRoom | undefined
  /** Whether the permits are counted, so that they must be returned. Those of a deleted limit are not. */
  readonly isCounted: boolean
  /** Whether the limit has no rate, so that a permit may be used for one execution after the other. */
  readonly isReusable: boolean
  /** Whether blocked work waits for permits of the key. */
  readonly isAwaited: boolean
  /** The oldest execution that holds a permit and gives way to the one that was refused. It is to be cancelled. */
  readonly givesWay: ExecutionId | undefined
}

export interface TakeResult {
  readonly kind: 'permits_taken'
  /** In the order of the requests. */
  readonly answers: TakeAnswer[]
  readonly at: Instant
}

export function takePermits(tx: Tx, input: TakeInput): TakeResult {
  const answers: TakeAnswer[] = []
  const requests = input.requests.slice(0, PERMIT_REQUEST_MAX)
  for (let i = 0; i < requests.length; i++) {
    const request = requests[i]
    if (request !== undefined) answers.push(takeOne(tx, input, request, joinName(input.requestId, String(i))))
  }
  return { kind: 'permits_taken', answers, at: tx.now }
}

function takeOne(tx: Tx, input: TakeInput, request: PermitRequest, requestId: string): TakeAnswer {
  const limit = limitNamed(tx, request.limit)
  if (limit === undefined) return refusedAnswer(tx, request, { cause: 'unknown', retryAfterMs: LIMIT_PROBE_MS })
  if (limit.deletedAt !== undefined) return uncounted(tx, request)
  const gauge = gaugeOf(tx, limit, request.key)
  const holding = ownHolding(tx, gauge, input)
  const past = pastRequest(holding, requestId)
  const weight = weightUnder(limit, request.weight)
  if (past !== undefined) return answerOf(tx, { limit, gauge, request, weight }, past.granted, past.at)

  const room = roomAfterExpiry(tx, limit, gauge, weight, request)
  if (room.permits > 0 && holding === undefined && gauge.holderCount >= HOLDER_MAX) {
    return refusedAnswer(tx, request, { cause: 'holders', retryAfterMs: LIMIT_PROBE_MS })
  }
  const granted = grantedOf(room, request)
  const takenAt = admit(tx, gauge, limit, weight, granted)
  if (granted > 0) hold(tx, gauge, input, { request, requestId, granted, takenAt })
  if (granted > 0) addRunner(gauge, input, request)
  const givesWay = granted === 0 && room.refusal?.cause === 'concurrency' ? askRunner(gauge, request) : undefined
  const isWaiting = addWaiting(gauge, request)
  if (granted > 0 || isWaiting || givesWay !== undefined) tx.put(gauge)
  return { ...answerOf(tx, { limit, gauge, request, weight }, granted, takenAt), givesWay }
}

/** What a request is decided by. */
interface Deciding {
  readonly limit: Limit
  readonly gauge: Gauge
  readonly request: PermitRequest
  readonly weight: number
}

function answerOf(tx: Tx, deciding: Deciding, granted: number, takenAt: Instant): TakeAnswer {
  const { limit, gauge, request, weight } = deciding
  const isShort = granted < request.needed
  return {
    limit: request.limit,
    key: request.key,
    granted,
    takenAt,
    refusal: isShort ? roomOf(limit, gauge, weight, tx.now).refusal : undefined,
    next: nextRoom(limit, gauge, weight, tx.now),
    isCounted: true,
    isReusable: limit.rate === undefined,
    isAwaited: gauge.waiting !== undefined,
    givesWay: undefined,
  }
}

/** Returns the holding of the process. One that has lapsed is not revived: its permits may be with others. */
function ownHolding(tx: Tx, gauge: Gauge, { workerInstanceId }: TakeInput): Holding | undefined {
  const holding = tx.get('holding', holdingId(gauge.limit, gauge.key, workerInstanceId))
  if (holding === undefined || holding.expiresAt > tx.now) return holding
  dropHolding(tx, gauge, holding)
  tx.put(gauge)
  return undefined
}

/** If the cap refuses, holdings of dead processes are removed first, so that no engine is needed for it. */
function roomAfterExpiry(tx: Tx, limit: Limit, gauge: Gauge, weight: number, request: PermitRequest): Room {
  const room = roomOf(limit, gauge, weight, tx.now)
  if (room.permits >= request.needed || room.refusal?.cause !== 'concurrency') return room
  let hasDropped = false
  for (const { id } of tx.range({ index: timersIndex('holding'), to: tx.now, limit: CLAIM_DUE_COUNT })) {
    const holding = tx.get('holding', id)
    if (holding === undefined || holding.expiresAt > tx.now) continue
    if (holding.limit !== gauge.limit || holding.key !== gauge.key) continue
    dropHolding(tx, gauge, holding)
    hasDropped = true
  }
  if (!hasDropped) return room
  tx.put(gauge)
  return roomOf(limit, gauge, weight, tx.now)
}

/** Spare permits are a share of what is left, so that one process does not take them all. */
function grantedOf(room: Room, { needed, spare }: PermitRequest): number {
  const granted = Math.min(needed, room.permits)
  if (room.permits === UNLIMITED) return granted + spare
  return granted + Math.min(spare, Math.floor((room.permits - granted) / SPARE_PERMIT_SHARE))
}

/** Counts permits in the window and in the sum. Returns the instant of their entry. */
function admit(tx: Tx, gauge: Gauge, limit: Limit, weight: number, granted: number): Instant {
  if (granted === 0) return tx.now
  gauge.heldCount = gauge.heldCount + granted
  if (limit.rate === undefined) return tx.now
  gauge.window = addToWindow(gauge.window, limit.rate.windowMs, tx.now, weight * granted)
  return gauge.window[gauge.window.length - 1]?.at ?? tx.now
}

interface Grant {
  readonly request: PermitRequest
  readonly requestId: string
  readonly granted: number
  readonly takenAt: Instant
}

function hold(tx: Tx, gauge: Gauge, input: TakeInput, { request, requestId, granted, takenAt }: Grant): void {
  const id = holdingId(request.limit, request.key, input.workerInstanceId)
  const expiresAt = tx.now + input.ttlMs
  const found = tx.get('holding', id)
  if (found === undefined) gauge.holderCount = gauge.holderCount + 1
  const holding: Holding = found ?? {
    type: 'holding',
    id,
    limit: request.limit,
    key: request.key,
    workerInstanceId: input.workerInstanceId,
    count: 0,
    expiresAt,
    requests: [],
  }
  holding.count = holding.count + granted
  holding.expiresAt = Math.max(holding.expiresAt, expiresAt)
  rememberRequest(holding, requestId, granted, takenAt)
  tx.put(holding)
}

/** Adds the partition to those that wait. Returns whether the gauge has changed. */
function addWaiting(gauge: Gauge, { waitingIn }: PermitRequest): boolean {
  if (waitingIn === undefined) return false
  const waiting = gauge.waiting ?? []
  if (waiting.includes(waitingIn) || waiting.length >= WAITING_PARTITION_MAX) return false
  gauge.waiting = waiting.concat([waitingIn])
  return true
}

/** Records an execution that gives way. Further ones than the gauge has room for do not. */
function addRunner(gauge: Gauge, { workerInstanceId }: TakeInput, { of }: PermitRequest): void {
  const runners = gauge.runners ?? []
  if (of === undefined || runners.length >= RUNNER_MAX) return
  gauge.runners = runners.concat([{ executionId: of, workerInstanceId, askedFor: undefined }])
}

/** Returns the oldest runner that has not been asked yet. An execution that is refused again gets the same one. */
function askRunner(gauge: Gauge, { of }: PermitRequest): ExecutionId | undefined {
  if (of === undefined) return undefined
  const runners = gauge.runners ?? []
  let oldest: Runner | undefined = undefined
  for (const runner of runners) {
    if (runner.askedFor === of) return runner.executionId
    if (oldest === undefined && runner.askedFor === undefined) oldest = runner
  }
  if (oldest === undefined) return undefined
  const asked = oldest
  gauge.runners = runners.map((runner) => (runner === asked ? { ...runner, askedFor: of } : runner))
  return asked.executionId
}

const UNCOUNTED = { isCounted: false, isReusable: false, isAwaited: false, givesWay: undefined } as const

function refusedAnswer(tx: Tx, { limit, key }: PermitRequest, refusal: LimitRefusal): TakeAnswer {
  const next = refusal.retryAfterMs === undefined ? undefined : { afterMs: refusal.retryAfterMs, permits: 1 }
  return { ...UNCOUNTED, limit, key, granted: 0, takenAt: tx.now, refusal, next }
}

/** A deleted limit limits nothing. */
function uncounted(tx: Tx, { limit, key, needed }: PermitRequest): TakeAnswer {
  const next = { afterMs: 0, permits: UNLIMITED }
  return { ...UNCOUNTED, limit, key, granted: needed, takenAt: tx.now, refusal: undefined, next }
}
