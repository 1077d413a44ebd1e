/**
 * What protects a read of an index against concurrent changes. Records have versions, index ranges have none, so an index
 * that operations decide by has a guard: a record that every change of the index also writes. An operation reads the guard
 * before the range, and its commit carries a condition on the version of the guard.
 */
import {
  CANCEL_BACKLOG_INDEX,
  CREATED_INDEX,
  DUE_INDEX,
  FLOWS_INDEX,
  OPEN_WAITPOINTS_INDEX,
  PURGE_INDEX,
  QUEUES_INDEX,
  SIBLING_CANCELS_INDEX,
  edgeId,
} from './indexes.ts'
import { indexesOf, namedTypes } from './named-types.ts'
import type { AnyRecord, Execution, RecordType } from './records.ts'
import { SEPARATOR, nameStart } from './names.ts'

export type IndexGuard =
  /** A record that the name of the index identifies. */
  | { readonly kind: 'record'; readonly type: 'execution' | 'flow' | 'gauge' | 'shaping_key'; readonly id: string }
  /**
   * The flow that the record of this execution names. If the execution is absent or no member, its own record guards
   * the index: an edge needs two members, and becoming a member writes the record.
   */
  | { readonly kind: 'flow_of'; readonly executionId: string }
  /**
   * Entries are hints: every record taken from the index is checked by its own version, and a missed one is found later. A
   * submit that counts queues may miss one that another process is adding.
   */
  | { readonly kind: 'advisory' }
  /** Any operation may change it. A decision that depends on a range of it needs the lock of the partition. */
  | { readonly kind: 'none' }

const ADVISORY: IndexGuard = { kind: 'advisory' }
const NONE: IndexGuard = { kind: 'none' }

export function guardOf(index: string): IndexGuard {
  const first = nameStart(index)
  const owner = ownerIn(index, first)
  switch (first) {
    case 'members':
      return { kind: 'record', type: 'flow', id: owner }
    case 'attempts':
    case 'steps':
    case 'waitpoints':
    case 'signals':
    case 'inbox':
      return { kind: 'record', type: 'execution', id: nameStart(owner) }
    case 'out':
    case 'in':
      return { kind: 'flow_of', executionId: owner }
    case '@holders':
      return { kind: 'record', type: 'gauge', id: owner }
    case 'line':
      return { kind: 'record', type: 'shaping_key', id: owner }
    // An execution is added together with a write of its gate, so that a gate is not removed before it.
    case 'gated':
    case 'ready':
    case DUE_INDEX:
    case PURGE_INDEX:
    case 'kept':
    case '@due':
    case QUEUES_INDEX:
      return ADVISORY
    default:
      return NONE
  }
}

/** A record that an entry of an index names: its id is the id of the entry between two texts. */
export interface NamedRecord {
  readonly type: RecordType
  readonly before: string
  readonly after: string
}

const EXECUTION = named('execution')
const FLOW = named('flow')
const SIGNAL = named('signal')
const WAITPOINT = named('waitpoint')

/** The indexes of record types whose ids are names. */
const namedIndexes = new Map<string, readonly NamedRecord[]>()
for (const entry of namedTypes) {
  for (const index of indexesOf(entry)) namedIndexes.set(index, [named(entry.type)])
}

/** An entry of `due` or `purge` names one of the two records, by `isFlowId`; any other entry names all. */
export function recordsNamedBy(index: string): readonly NamedRecord[] {
  const first = nameStart(index)
  const owner = ownerIn(index, first)
  switch (first) {
    case 'ready':
    case 'gated':
    case 'lane':
    case 'tag':
    case 'firings':
    case 'kept':
    case 'line':
    case 'members':
    case CREATED_INDEX:
    case SIBLING_CANCELS_INDEX:
      return [EXECUTION]
    case DUE_INDEX:
    case PURGE_INDEX:
      return [EXECUTION, FLOW]
    case 'flow_firings':
    case FLOWS_INDEX:
    case CANCEL_BACKLOG_INDEX:
      return [FLOW]
    case 'out':
      return [{ type: 'edge', before: edgeId(owner, ''), after: '' }, EXECUTION]
    case 'in':
      return [{ type: 'edge', before: '', after: edgeId('', owner) }, EXECUTION]
    case 'steps':
      return [named('step')]
    case 'signals':
    case 'inbox':
      return [SIGNAL]
    case 'waitpoints':
    case OPEN_WAITPOINTS_INDEX:
      return [WAITPOINT]
    case 'attempts':
      return [named('attempt')]
    case QUEUES_INDEX:
      return [named('queue')]
    case '@keys':
      return [named('gauge')]
    case '@holders':
      return [named('holding')]
    case '@accounts_of':
    case '@parked_of':
      return [named('account')]
    case '@ledger':
    case '@charges_of':
      return [named('charge')]
    case '@reserved':
    case '@reservations_of':
      return [named('reservation')]
    case '@periods':
      return [named('past_period')]
    default:
      return namedIndexes.get(index) ?? []
  }
}

/** Returns the part of an index name after its first. */
function ownerIn(index: string, first: string): string {
  return index.substring(first.length + SEPARATOR.length)
}

function named(type: RecordType): NamedRecord {
  return { type, before: '', after: '' }
}

export interface RecordKey {
  readonly type: RecordType
  readonly id: string
}

/** Records that an operation reads next when it takes this one from an index. A store may load them together. */
export function recordsReadAfter(record: AnyRecord): RecordKey[] {
  return record.type === 'execution' ? recordsReadWith(record) : []
}

function recordsReadWith(execution: Execution): RecordKey[] {
  const member = execution.member
  const phase = execution.state.phase
  if (member === undefined) return []
  // A blocked member is reached from its flow or its neighbours; an ended one only if its edges are pending.
  if (phase === 'blocked' || (phase === 'ended' && !member.owesEdges)) return []
  const brought: RecordKey[] = [{ type: 'flow', id: member.flowId }]
  // A claim reads the payload from there.
  if (phase === 'eligible' && member.payloadFrom !== undefined) {
    brought.push({ type: 'execution', id: member.payloadFrom })
  }
  return brought
}
