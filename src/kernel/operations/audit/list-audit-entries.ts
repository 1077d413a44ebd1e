/** Lists the audit trail, the latest entry first. */
import { LIST_PAGE_MAX, LIST_SCAN_COUNT } from '../../limits.ts'
import { AUDIT_INDEX } from '../../model/indexes.ts'
import type { Position } from '../../model/order.ts'
import type { AuditEntry } from '../../model/records.ts'
import type { Range, Tx } from '../../tx.ts'

export interface ListAuditEntriesInput {
  readonly limit: number
  /** The entry after which to continue. */
  readonly cursor?: Position | undefined
  /** Only entries of this namespace. Left out: all, also those of the store as a whole. */
  readonly namespace?: string | undefined
  readonly action?: string | undefined
  /** Only of these credentials, or in this name. */
  readonly by?: string | undefined
  /** Only entries with a target of this value. */
  readonly target?: string | undefined
}

export interface ListAuditEntriesResult {
  readonly kind: 'entries_listed'
  readonly entries: AuditEntry[]
  /** Where to continue; undefined on the last page. A page may have fewer entries than the limit. */
  readonly cursor: Position | undefined
}

export function listAuditEntries(tx: Tx, input: ListAuditEntriesInput): ListAuditEntriesResult {
  const limit = Math.max(1, Math.min(input.limit, LIST_PAGE_MAX))
  const page = tx.scan(auditRange(input), 'audit_entry')
  const entries: AuditEntry[] = []
  let last: AuditEntry | undefined = undefined
  for (const entry of page) {
    if (entries.length === limit) return { kind: 'entries_listed', entries, cursor: placeOf(last) }
    last = entry
    if (isWanted(entry, input)) entries.push(entry)
  }
  return { kind: 'entries_listed', entries, cursor: page.length < LIST_SCAN_COUNT ? undefined : placeOf(last) }
}

export function auditRange({ cursor }: ListAuditEntriesInput): Range {
  return { index: AUDIT_INDEX, from: cursor, reverse: true, limit: LIST_SCAN_COUNT }
}

function isWanted(entry: AuditEntry, { namespace, action, by, target }: ListAuditEntriesInput): boolean {
  return (
    (namespace === undefined || entry.namespace === namespace) &&
    (action === undefined || entry.action === action) &&
    (by === undefined || entry.credential === by || entry.by === by) &&
    (target === undefined || entry.targets.some(({ value }) => value === target))
  )
}

function placeOf(entry: AuditEntry | undefined): Position | undefined {
  return entry && { score: entry.sequence, id: entry.id }
}
