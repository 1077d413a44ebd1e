/** Appends an entry to the audit trail. Idempotent per id. The oldest entries beyond a count make room for it. */
import { AUDIT_SWEEP_COUNT } from '../../limits.ts'
import { AUDIT_INDEX } from '../../model/indexes.ts'
import type { AuditEntry } from '../../model/records.ts'
import type { Tx } from '../../tx.ts'

export interface RecordAuditEntryInput extends Pick<
  AuditEntry,
  | 'requestId'
  | 'credential'
  | 'role'
  | 'by'
  | 'namespace'
  | 'address'
  | 'action'
  | 'targets'
  | 'reason'
  | 'status'
  | 'code'
> {
  readonly entryId: string
  /** How long the entry is kept. */
  readonly keepMs: number
  /** Entries that the trail keeps, with this one. */
  readonly keepCount: number
}

export interface RecordAuditEntryResult {
  readonly kind: 'entry_recorded' | 'entry_exists'
}

export function recordAuditEntry(tx: Tx, input: RecordAuditEntryInput): RecordAuditEntryResult {
  const { entryId, keepMs, keepCount, ...facts } = input
  if (tx.has('audit_entry', entryId)) return { kind: 'entry_exists' }
  const latest = tx.range({ index: AUDIT_INDEX, reverse: true, limit: 1 })[0]
  const sequence = (latest?.score ?? 0) + 1
  if (sequence > keepCount) {
    const surplus = tx.scan({ index: AUDIT_INDEX, to: sequence - keepCount, limit: AUDIT_SWEEP_COUNT }, 'audit_entry')
    for (const { id } of surplus) tx.remove('audit_entry', id)
  }
  tx.put({ type: 'audit_entry', id: entryId, sequence, at: tx.now, expiresAt: tx.now + keepMs, ...facts })
  return { kind: 'entry_recorded' }
}
