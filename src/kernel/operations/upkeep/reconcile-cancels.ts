/**
 * Reconciles pending cancels of groups and of flows. A group is left to the dispatcher while one of its losers lives:
 * the reconciler cleans up marks and cancels no member itself. It resumes the walk of a cancelled flow.
 */
import { matchesFilter } from '../../rules/tenant-filter.ts'
import type { TenantFilter } from '../../rules/tenant-filter.ts'
import { CANCEL_BACKLOG_INDEX, OPEN_EDGES, SIBLING_CANCELS_INDEX, inboundIndex } from '../../model/indexes.ts'
import { COUNT_MAX, FLOW_ITEM_WORK, FLOW_RECONCILE_COUNT, RESOLVE_PAGE_COUNT } from '../../limits.ts'
import type { Execution } from '../../model/records.ts'
import { isExecutionId } from '../../model/names.ts'
import type { Tx } from '../../tx.ts'
import type { IndexEntry, Position } from '../../model/order.ts'
import { walkFlow } from '../../lifecycle/flows/flow-walk.ts'

export interface ReconcileCancelsInput {
  readonly filter?: TenantFilter | undefined
  readonly from?: Position | undefined
  /** Records that failed repeatedly and are skipped for a while. */
  readonly skip?: readonly string[] | undefined
}

/** `removed_stale`: nothing was pending. `completed_drain`: all had ended. `no_op`: one lives. `malformed`: no id. */
export type SiblingCancelOutcome = 'removed_stale' | 'completed_drain' | 'no_op' | 'malformed'

export interface ReconcileSiblingCancelsResult {
  readonly kind: 'siblings_reconciled'
  readonly outcomes: { readonly outcome: SiblingCancelOutcome; readonly id: string }[]
  readonly next: Position | undefined
}

export function reconcileSiblingCancels(tx: Tx, input: ReconcileCancelsInput): ReconcileSiblingCancelsResult {
  const page = tx.range({ index: SIBLING_CANCELS_INDEX, from: input.from, limit: FLOW_RECONCILE_COUNT })
  const outcomes: { readonly outcome: SiblingCancelOutcome; readonly id: string }[] = []
  for (const entry of page) {
    if (input.skip?.includes(entry.id) === true) continue
    const execution = isExecutionId(entry.id) ? tx.getMany('execution', [entry.id])[0] : undefined
    if (execution !== undefined && !matchesFilter(execution, input.filter)) continue
    outcomes.push({ outcome: reconcileGroup(tx, entry, execution), id: entry.id })
  }
  return { kind: 'siblings_reconciled', outcomes, next: nextOf(page) }
}

function reconcileGroup(tx: Tx, entry: IndexEntry, execution: Execution | undefined): SiblingCancelOutcome {
  const group = execution?.member?.group
  if (execution === undefined || group?.owedFrom === undefined) {
    tx.repair(SIBLING_CANCELS_INDEX, entry.id, undefined, entry.score)
    return isExecutionId(entry.id) ? 'removed_stale' : 'malformed'
  }
  const from = group.owedFrom === '' ? undefined : { score: OPEN_EDGES, id: group.owedFrom }
  const range = { index: inboundIndex(execution.id), from, to: OPEN_EDGES, limit: RESOLVE_PAGE_COUNT }
  const listed = tx.scan(range, 'execution')
  for (const sibling of listed) if (sibling.state.phase !== 'ended') return 'no_op'
  if (listed.length === RESOLVE_PAGE_COUNT) return 'no_op'
  group.owedFrom = undefined
  tx.put(execution)
  return 'completed_drain'
}

export interface ReconcileFlowCancelsResult {
  readonly kind: 'cancels_reconciled'
  /** Flows whose walk was resumed. */
  readonly walked: string[]
  readonly removedStale: string[]
  /** Cancelled flows with pending cancels of members. */
  readonly depth: number
  readonly next: Position | undefined
}

export function reconcileFlowCancels(tx: Tx, input: ReconcileCancelsInput): ReconcileFlowCancelsResult {
  const page = tx.range({ index: CANCEL_BACKLOG_INDEX, from: input.from, limit: FLOW_RECONCILE_COUNT })
  const walked: string[] = []
  const removedStale: string[] = []
  let next = nextOf(page)
  for (const entry of page) {
    if (input.skip?.includes(entry.id) === true) continue
    if (tx.room() < FLOW_ITEM_WORK) {
      next = input.from ?? { score: 0 }
      break
    }
    const flow = tx.getMany('flow', [entry.id])[0]
    if (flow?.walk?.purpose !== 'cancel') {
      tx.repair(CANCEL_BACKLOG_INDEX, entry.id, undefined, entry.score)
      removedStale.push(entry.id)
    } else if (matchesFilter(flow, input.filter)) {
      walkFlow(tx, flow)
      walked.push(flow.id)
    }
  }
  const depth = tx.countUpTo({ index: CANCEL_BACKLOG_INDEX, limit: COUNT_MAX })
  return { kind: 'cancels_reconciled', walked, removedStale, depth, next }
}

function nextOf(page: readonly IndexEntry[]): Position | undefined {
  const last = page[page.length - 1]
  return page.length < FLOW_RECONCILE_COUNT || last === undefined ? undefined : { score: last.score, id: last.id }
}
