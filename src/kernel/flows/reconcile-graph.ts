/**
 * Proves the indexes that belong to one flow or to one member: the members of a flow, the edges of a member. They are
 * reached through their owners, many owners a step as long as these own little. An edge that one of its two members has
 * lost is found at the other.
 */
import { matchesFilter } from '../filter.ts'
import { hasRepairedEnough, positionAfter, proveEntry } from '../index-repair.ts'
import type { IndexProblem, ProofInput } from '../index-repair.ts'
import { CREATED_INDEX, FLOWS_INDEX, edgeId, inboundIndex, membersIndex, outboundIndex } from '../indexes.ts'
import { RECONCILE_SCAN_COUNT } from '../limits.ts'
import type { AnyRecord, Execution, Flow } from '../records.ts'
import type { IndexEntry, Position, Tx } from '../tx.ts'

/** Whose indexes are walked: those of flows, then those of members. */
export type OwnerStage = 'member_indexes' | 'edge_indexes'

export interface OwnerCursor {
  /** Behind which owner to go on. */
  readonly owner?: Position | undefined
  /** Which of the owner's indexes is walked, and how far it has been. */
  readonly step: number
  readonly position?: Position | undefined
}

export interface OwnersWalked {
  readonly examined: number
  /** Undefined once the indexes of all owners have been walked. */
  readonly cursor: OwnerCursor | undefined
}

/** One index of an owner, and how the record behind one of its entries is found. */
interface OwnedIndex {
  readonly name: string
  readonly recordOf: (tx: Tx, entry: IndexEntry) => AnyRecord | undefined
}

export function walkOwners(
  tx: Tx,
  stage: OwnerStage,
  cursor: OwnerCursor,
  input: ProofInput,
  repaired: IndexProblem[],
): OwnersWalked {
  const ownersIndex = stage === 'member_indexes' ? FLOWS_INDEX : CREATED_INDEX
  const owners = tx.range({ index: ownersIndex, from: cursor.owner, limit: RECONCILE_SCAN_COUNT })
  let before = cursor.owner
  let { step, position } = cursor
  let examined = 0
  for (const owner of owners) {
    const owned = indexesOf(tx, stage, owner.id, input)
    for (let index = owned[step]; index !== undefined; index = owned[step]) {
      if (examined >= RECONCILE_SCAN_COUNT || hasRepairedEnough(repaired)) {
        return { examined, cursor: { owner: before, step, position } }
      }
      // A page of always the same size, so that a store can fetch those of many owners at once.
      const entries = tx.range({ index: index.name, from: position, limit: RECONCILE_SCAN_COUNT })
      // An index counts even if it is empty: reading it was work.
      examined = examined + 1 + entries.length
      position = positionAfter(entries, provePage(tx, index, entries, input, repaired))
      if (position === undefined) step = step + 1
    }
    before = { score: owner.score, id: owner.id }
    step = 0
    examined = examined + 1
  }
  const isLast = owners.length < RECONCILE_SCAN_COUNT
  return { examined, cursor: isLast ? undefined : { owner: before, step: 0 } }
}

/** The id of the entry at which it had repaired enough. */
function provePage(
  tx: Tx,
  index: OwnedIndex,
  entries: readonly IndexEntry[],
  input: ProofInput,
  repaired: IndexProblem[],
): string | undefined {
  for (const entry of entries) {
    if (input.skip?.includes(entry.id) === true) continue
    proveEntry(tx, entry, index.recordOf(tx, entry), repaired)
    if (hasRepairedEnough(repaired)) return entry.id
  }
  return undefined
}

function indexesOf(tx: Tx, stage: OwnerStage, ownerId: string, input: ProofInput): OwnedIndex[] {
  if (input.skip?.includes(ownerId) === true) return []
  if (stage === 'member_indexes') {
    const flow = tx.get('flow', ownerId)
    return flow === undefined || !matchesFilter(flow, input.filter) ? [] : [membersOf(flow)]
  }
  const execution = tx.get('execution', ownerId)
  if (execution?.member === undefined || !matchesFilter(execution, input.filter)) return []
  return [outboundOf(execution), inboundOf(execution)]
}

function membersOf(flow: Flow): OwnedIndex {
  return { name: membersIndex(flow.id), recordOf: (tx, entry) => tx.get('execution', entry.id) }
}

function outboundOf(execution: Execution): OwnedIndex {
  return { name: outboundIndex(execution.id), recordOf: (tx, entry) => tx.get('edge', edgeId(execution.id, entry.id)) }
}

function inboundOf(execution: Execution): OwnedIndex {
  return { name: inboundIndex(execution.id), recordOf: (tx, entry) => tx.get('edge', edgeId(entry.id, execution.id)) }
}
