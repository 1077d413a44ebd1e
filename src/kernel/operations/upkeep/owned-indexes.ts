/** Checks the indexes that belong to one record, through their owners; one step covers many small owners. */
import { checkEntry, hasRepairedEnough } from './index-repair.ts'
import type { Check, CheckInput } from './index-repair.ts'
import { RECONCILE_SCAN_COUNT } from '../../limits.ts'
import type { AnyRecord } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'
import type { IndexEntry, Position } from '../../model/order.ts'

/** Records that own indexes, in the order of an index of their own. */
export interface Owners {
  readonly index: string
  readonly ownedBy: (tx: Tx, ownerId: string, input: CheckInput) => OwnedIndex[]
}

/** One index of an owner, and how to find the record of an entry. */
export interface OwnedIndex {
  readonly name: string
  readonly recordOf: (tx: Tx, id: string) => AnyRecord | undefined
  /** The index that the record of an entry owns itself. */
  readonly inside?: ((id: string) => OwnedIndex) | undefined
}

/** The progress in the index of one entry. */
interface InsideCursor {
  readonly id: string
  readonly position: Position
}

/** The progress in one index of an owner. */
interface IndexCursor {
  readonly position?: Position | undefined
  /** The progress in the index of the entry at that position. */
  readonly inside?: InsideCursor | undefined
}

export interface OwnerCursor extends IndexCursor {
  /** The owner after which to continue. */
  readonly owner?: Position | undefined
  /** Which of the owner's indexes is walked. */
  readonly step: number
}

export interface OwnersWalked {
  readonly examined: number
  /** Undefined once the indexes of all owners are done. */
  readonly cursor: OwnerCursor | undefined
}

/** The work of one call. */
interface Walk extends Check {
  readonly tx: Tx
  examined: number
}

export function walkOwners(tx: Tx, owners: Owners, cursor: OwnerCursor, { input, repaired }: Check): OwnersWalked {
  const walk: Walk = { tx, input, repaired, examined: 0 }
  const page = tx.range({ index: owners.index, from: cursor.owner, limit: RECONCILE_SCAN_COUNT })
  let before = cursor.owner
  let step = cursor.step
  let at: IndexCursor = cursor
  for (const owner of page) {
    const isSkipped = input.skip?.includes(owner.id) === true
    const owned = isSkipped ? [] : owners.ownedBy(tx, owner.id, input)
    for (let index = owned[step]; index !== undefined; index = owned[step]) {
      if (isExhausted(walk)) {
        return { examined: walk.examined, cursor: { owner: before, step, position: at.position, inside: at.inside } }
      }
      const left = walkOwned(walk, index, at)
      if (left === undefined) step = step + 1
      at = left ?? {}
    }
    before = positionOf(owner)
    step = 0
    at = {}
    walk.examined = walk.examined + 1
  }
  const isLast = page.length < RECONCILE_SCAN_COUNT
  return { examined: walk.examined, cursor: isLast ? undefined : { owner: before, step: 0 } }
}

/** Returns where to continue in the index; undefined once all of it is done. */
function walkOwned(walk: Walk, index: OwnedIndex, from: IndexCursor): IndexCursor | undefined {
  const inside = from.inside
  if (inside !== undefined && index.inside !== undefined) {
    const left = walkPage(walk, index.inside(inside.id), inside.position)
    const position = from.position
    if (left !== undefined) return { position, inside: { id: inside.id, position: left } }
    if (isExhausted(walk)) return { position }
  }
  // The page size is constant, so that a store can load the pages of many owners at once.
  const entries = walk.tx.range({ index: index.name, from: from.position, limit: RECONCILE_SCAN_COUNT })
  // An empty index counts too: reading it was work.
  walk.examined = walk.examined + 1
  for (const entry of entries) {
    walk.examined = walk.examined + 1
    check(walk, index, entry)
    if (index.inside !== undefined) {
      const left = walkPage(walk, index.inside(entry.id), undefined)
      if (left !== undefined) return { position: positionOf(entry), inside: { id: entry.id, position: left } }
      if (isExhausted(walk)) return { position: positionOf(entry) }
    }
    if (hasRepairedEnough(walk.repaired)) return { position: positionOf(entry) }
  }
  return afterPage(entries)
}

/** Checks one page of an index whose entries own nothing. */
function walkPage(walk: Walk, index: OwnedIndex, from: Position | undefined): Position | undefined {
  const entries = walk.tx.range({ index: index.name, from, limit: RECONCILE_SCAN_COUNT })
  walk.examined = walk.examined + 1 + entries.length
  for (const entry of entries) {
    check(walk, index, entry)
    if (hasRepairedEnough(walk.repaired)) return positionOf(entry)
  }
  return afterPage(entries)?.position
}

function check({ tx, input, repaired }: Walk, index: OwnedIndex, entry: IndexEntry): void {
  if (input.skip?.includes(entry.id) === true) return
  checkEntry(tx, entry, index.recordOf(tx, entry.id), repaired)
}

function isExhausted({ examined, repaired }: Walk): boolean {
  return examined >= RECONCILE_SCAN_COUNT || hasRepairedEnough(repaired)
}

function positionOf({ score, id }: IndexEntry): Position {
  return { score, id }
}

function afterPage(entries: readonly IndexEntry[]): IndexCursor | undefined {
  const last = entries[entries.length - 1]
  return entries.length < RECONCILE_SCAN_COUNT || last === undefined ? undefined : { position: positionOf(last) }
}
