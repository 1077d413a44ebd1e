/** Wakes: which execution partitions have work that a limit blocks, and how many of the free permits each should ask for. */
import { OWED_PARKED_MAX, WAKE_DELIVERY_MS } from '../../limits.ts'
import { isBudgetId } from '../../model/budget-ids.ts'
import type { Gauge, Limit, WokenExecution } from '../../model/limit-schema.ts'
import type { Instant } from '../../model/records.ts'
import { UNLIMITED, roomOf } from '../../rules/limit-usage.ts'

export interface LimitWake {
  /** The number of the execution partition. */
  readonly partition: number
  /** Zero if only executions are named. */
  readonly permits: number
  /** Of a budget: delayed executions that find room now. */
  readonly executions?: readonly WokenExecution[] | undefined
  /** Of a budget: identifies the wake when its delivery is confirmed. */
  readonly at?: Instant | undefined
}

/** A delayed execution to wake, and the number of its partition. */
export interface DelayedSpender extends WokenExecution {
  readonly partition: number
}

const NO_DELAYED: readonly DelayedSpender[] = []

/**
 * Divides the free room of a key among the partitions that wait. Those that get none stay in line, in front of later ones. The
 * caller puts the gauge. A budget wakes delayed executions, too. Its wakes are owed until a process confirms that it has delivered them.
 */
export function takeWakes(limit: Limit, gauge: Gauge, now: Instant, delayed = NO_DELAYED): LimitWake[] {
  // A deleted limit lets everything pass, gate by gate.
  const permits = limit.deletedAt === undefined ? roomOf(limit, gauge, 1, now).permits : UNLIMITED
  const waiting = gauge.waiting ?? []
  const count = Math.min(waiting.length, permits)
  if (count === 0 && delayed.length === 0) return []
  const wakes: LimitWake[] = []
  const share = count === 0 ? 0 : Math.floor(permits / count)
  const further = permits - share * count
  for (const partition of waiting.slice(0, count)) {
    wakes.push({ partition, permits: share + (wakes.length < further ? 1 : 0) })
  }
  gauge.waiting = count === waiting.length ? undefined : waiting.slice(count)
  return isBudgetId(limit.id) ? oweWakes(gauge, withDelayed(wakes, delayed), now) : wakes
}

/** Names each execution in the wake of its partition. */
function withDelayed(wakes: readonly LimitWake[], delayed: readonly DelayedSpender[]): readonly LimitWake[] {
  if (delayed.length === 0) return wakes
  const byPartition = new Map<number, LimitWake>()
  for (const wake of wakes) byPartition.set(wake.partition, wake)
  for (const { partition, executionId, epoch } of delayed) {
    const { permits, executions = [] } = byPartition.get(partition) ?? { permits: 0 }
    byPartition.set(partition, { partition, permits, executions: executions.concat([{ executionId, epoch }]) })
  }
  return [...byPartition.values()]
}

/** A later wake of a partition takes the place of an earlier one, and names the executions of both. */
function oweWakes(gauge: Gauge, wakes: readonly LimitWake[], now: Instant): LimitWake[] {
  const others = (gauge.owed ?? []).filter(({ partition }) => !wakes.some((wake) => wake.partition === partition))
  let at = now
  for (const owed of gauge.owed ?? []) at = Math.max(at, owed.at + 1)
  const owed = wakes.map(({ partition, permits, executions }) => {
    const earlier = gauge.owed?.find((one) => one.partition === partition)
    return {
      partition,
      permits: permits === 0 ? (earlier?.permits ?? 0) : permits,
      at,
      executions: bothOf(earlier?.executions, executions),
    }
  })
  gauge.owed = others.concat(owed)
  gauge.wakeAt = gauge.wakeAt ?? now + WAKE_DELIVERY_MS
  return owed
}

function bothOf(
  earlier: readonly WokenExecution[] | undefined,
  later: readonly WokenExecution[] | undefined,
): readonly WokenExecution[] | undefined {
  if (earlier === undefined || later === undefined) return later ?? earlier
  const others = earlier.filter((one) => !later.some(({ executionId }) => executionId === one.executionId))
  return others.concat(later).slice(-OWED_PARKED_MAX)
}

/** Forgets wakes that have arrived. The caller puts the gauge. */
export function confirmOwed(gauge: Gauge, at: Instant): void {
  const left = (gauge.owed ?? []).filter((owed) => owed.at > at)
  gauge.owed = left.length === 0 ? undefined : left
  if (left.length === 0) gauge.wakeAt = undefined
}
