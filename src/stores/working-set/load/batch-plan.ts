/** Collects the planned reads of a batch before its operations run. */
import { BATCH_WORK_LIMIT, DUE_INDEX, planCall, readsOnlyAsClaims } from '../../../kernel/index.ts'
import type { Plan, RecordType } from '../../../kernel/index.ts'
import type { Call } from '../../store.ts'
import type { Needs } from './needs.ts'

/** Known data, and the needs to add to. */
interface Planned {
  readonly needs: Needs
  readonly isKnown: (type: RecordType, id: string) => boolean
  /** Assumes that a record is absent unless it is known. Returns false if that may not be assumed. */
  readonly assumeAbsent: (type: RecordType, id: string) => boolean
  /** Whether all of an index is known. */
  readonly knowsIndex: (index: string) => boolean
  /** Whether blobs are read with the commit. */
  readonly sendsLate: boolean
}

/**
 * Adds the needs of calls. For an index that several calls consume, their limits add up. Returns the indexes that claims
 * read, if the claims may take work that the same batch makes ready and nothing else has to be loaded.
 */
export function planCalls(calls: readonly Call[], planned: Planned): ReadonlySet<string> | undefined {
  const { needs, isKnown, assumeAbsent, knowsIndex, sendsLate } = planned
  const workLimits = new Map<string, number>()
  const claimed = new Map<string, number>()
  const claims = new Set<string>()
  const found = { madeReady: new Set<string>(), mayRelease: false }
  // Other operations may read an index that their plans do not name.
  let areOnlyClaims = calls.every(({ operation }) => readsOnlyAsClaims(operation))
  const work = (index: string, limit: number): void => {
    const sum = sumOf(workLimits, index, limit)
    needs.head(index, sum, true, claimed.get(index))
  }
  const other = (need: () => void): void => {
    areOnlyClaims = false
    need()
  }
  const plan: Plan = {
    record: (type, id) => {
      if (!isKnown(type, id)) other(() => needs.record(type, id))
    },
    absent: (type, id) => {
      if (!assumeAbsent(type, id)) other(() => needs.record(type, id))
    },
    blob: (key) => {
      if (!sendsLate) other(() => needs.blob(key))
    },
    head: (index, limit) => other(() => needs.head(index, limit, false)),
    work: (index, limit) => {
      if (!knowsIndex(index)) other(() => work(index, limit))
    },
    claim: (index, count) => {
      sumOf(claimed, index, count)
      claims.add(index)
      work(index, count + 1)
    },
    due: (count, index = DUE_INDEX) => {
      claims.add(index)
      const sum = sumOf(workLimits, index, count)
      needs.head(index, sum + 1, false, sum, 'now')
    },
    makesReady: (index) => void found.madeReady.add(index),
    releases: () => {
      found.mayRelease = true
    },
    page: (range) => other(() => needs.page(range, false)),
    contents: (range) => other(() => needs.page(range, true)),
  }
  for (const { operation, input } of calls) planCall(plan, operation, input)
  const takesOwn = found.mayRelease || [...found.madeReady].some((index) => claims.has(index))
  return areOnlyClaims && takesOwn ? claims : undefined
}

/** Adds the limit of one more call, capped: a batch stops at its work limit, so later calls do not run. */
function sumOf(sums: Map<string, number>, index: string, more: number): number {
  const sum = Math.min(BATCH_WORK_LIMIT, sums.get(index) ?? 0) + more
  sums.set(index, sum)
  return sum
}
