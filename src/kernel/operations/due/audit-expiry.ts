import type { NamedDueCase } from './due-case.ts'

/** Removes an entry of the audit trail that was kept for its time. */
export const auditExpiry: NamedDueCase<'audit_entry'> = {
  name: 'audit_expiry',
  dueAt: (entry) => entry.expiresAt,
  run: (tx, entry) => tx.remove('audit_entry', entry.id),
}
