/** Returns permits of a worker process. Exact and idempotent: permits that lapsed, or were never taken, change nothing. */
import {
  gaugeOf,
  keepRunners,
  limitNamed,
  liveHolding,
  pastRequest,
  rememberRequest,
} from '../../lifecycle/limits/gauges.ts'
import type { LimitKey } from '../../lifecycle/limits/gauges.ts'
import { takeWakes } from '../../lifecycle/limits/wakes.ts'
import type { LimitWake } from '../../lifecycle/limits/wakes.ts'
import { PERMIT_REQUEST_MAX } from '../../limits.ts'
import type { ExecutionId } from '../../model/base-records.ts'
import { joinName } from '../../model/names.ts'
import type { Instant } from '../../model/records.ts'
import { weightUnder } from '../../rules/limit-usage.ts'
import { refundWindow } from '../../rules/sliding-window.ts'
import type { Tx } from '../../tx.ts'

export interface PermitReturn extends LimitKey {
  readonly count: number
  /** Executions among their former holders that give way to later ones. */
  readonly of?: readonly ExecutionId[] | undefined
  /** Permits among them with which nothing was started, so that they do not count against the rate. */
  readonly unused?: { readonly count: number; readonly weight: number; readonly takenAt: Instant } | undefined
}

export interface ReturnInput {
  /** Minted by the caller, the same for every repetition of the call. */
  readonly requestId: string
  readonly workerInstanceId: string
  readonly returns: readonly PermitReturn[]
}

export interface ReturnAnswer extends LimitKey {
  /** Permits taken back by this call. */
  readonly returned: number
  /** Permits that the process still holds. */
  readonly left: number
  /** Execution partitions with blocked work, and the permits that each should ask for. */
  readonly wakes: LimitWake[]
}

export interface ReturnResult {
  readonly kind: 'permits_returned'
  /** In the order of the returns. */
  readonly answers: ReturnAnswer[]
}

export function returnPermits(tx: Tx, input: ReturnInput): ReturnResult {
  const answers: ReturnAnswer[] = []
  const returns = input.returns.slice(0, PERMIT_REQUEST_MAX)
  for (let i = 0; i < returns.length; i++) {
    const one = returns[i]
    if (one !== undefined) answers.push(returnOne(tx, input, one, joinName(input.requestId, String(i))))
  }
  return { kind: 'permits_returned', answers }
}

function returnOne(tx: Tx, input: ReturnInput, given: PermitReturn, requestId: string): ReturnAnswer {
  const { limit: name, key } = given
  const limit = limitNamed(tx, name)
  const holding = liveHolding(tx, given, input.workerInstanceId)
  const returned = Math.min(given.count, holding?.count ?? 0)
  if (limit === undefined || holding === undefined || returned === 0 || pastRequest(holding, requestId) !== undefined) {
    return { limit: name, key, returned: 0, left: holding?.count ?? 0, wakes: [] }
  }

  const gauge = gaugeOf(tx, limit, key)
  gauge.heldCount = Math.max(0, gauge.heldCount - returned)
  const { of = [], unused } = given
  keepRunners(gauge, ({ executionId }) => !of.includes(executionId))
  if (unused !== undefined && limit.rate !== undefined) {
    const weight = weightUnder(limit, unused.weight) * Math.min(unused.count, returned)
    gauge.window = refundWindow(gauge.window, limit.rate.windowMs, tx.now, unused.takenAt, weight)
  }
  // A holding without permits stays until it expires: a repetition of this call must find it.
  holding.count = holding.count - returned
  rememberRequest(holding, requestId, 0, tx.now)
  const wakes = takeWakes(limit, gauge, tx.now)
  tx.put(holding)
  tx.put(gauge)
  return { limit: name, key, returned, left: holding.count, wakes }
}
