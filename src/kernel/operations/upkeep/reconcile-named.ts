/** Checks the indexes of records whose ids are names: of all records of a type, of their timers, and further ones. */
import { checkEntry, hasRepairedEnough, positionAfter } from './index-repair.ts'
import type { Check } from './index-repair.ts'
import type { PartitionFamily } from '../../model/families.ts'
import { indexesOf, namedTypesIn } from '../../model/named-types.ts'
import type { NamedType } from '../../model/named-types.ts'
import type { IndexEntry, Position } from '../../model/order.ts'
import type { AnyRecord } from '../../model/records.ts'
import { RECONCILE_SCAN_COUNT } from '../../limits.ts'
import type { Tx } from '../../tx.ts'

/** The progress in the indexes of all named types of a family, one after the other. */
export interface NamedCursor {
  readonly step: number
  readonly position?: Position | undefined
}

export interface NamedWalked {
  readonly examined: number
  /** Undefined once all indexes are done. */
  readonly cursor: NamedCursor | undefined
}

export function walkNamed(tx: Tx, family: PartitionFamily, from: NamedCursor, check: Check): NamedWalked {
  const walks = namedTypesIn(family).flatMap((entry) => indexesOf(entry).map((index) => ({ type: entry.type, index })))
  const walk = walks[from.step]
  if (walk === undefined) return { examined: 0, cursor: undefined }
  const entries = tx.range({ index: walk.index, from: from.position, limit: RECONCILE_SCAN_COUNT })
  const records = recordsOf(tx, walk.type, entries)
  let stoppedAt: string | undefined = undefined
  for (const entry of entries) {
    if (check.input.skip?.includes(entry.id) === true) continue
    checkEntry(tx, entry, records.get(entry.id), check.repaired)
    if (hasRepairedEnough(check.repaired)) {
      stoppedAt = entry.id
      break
    }
  }
  const position = positionAfter(entries, stoppedAt)
  const next = from.step + 1 < walks.length ? { step: from.step + 1 } : undefined
  return { examined: entries.length, cursor: position === undefined ? next : { step: from.step, position } }
}

function recordsOf(tx: Tx, type: NamedType, entries: readonly IndexEntry[]): Map<string, AnyRecord> {
  const ids = entries.map(({ id }) => id)
  return new Map(tx.getMany(type, ids).map((record) => [record.id, record]))
}
