/** The trail of what operators did over servers, as it is stored. New fields and words go to the end. */
import { frozenList, frozenObject, maybe, record, text, whole, word } from './field-kinds.ts'
import type { InferRecord } from './field-kinds.ts'

const auditTarget = frozenObject({ name: text, value: text })

export const auditEntry = record('audit_entry', {
  /** Identifies one request, or one operation of a request. */
  id: text,
  /** The order of the trail. Counts from 1. */
  sequence: whole,
  at: whole,
  /** When the entry is removed. */
  expiresAt: whole,
  requestId: text,
  /** The name of the credentials. */
  credential: text,
  role: word(['viewer', 'worker', 'operator', 'admin']),
  /** In whose name it was done. */
  by: maybe(text),
  /** The namespace that it acted in; absent for the store as a whole. */
  namespace: maybe(text),
  address: maybe(text),
  action: text,
  targets: frozenList(auditTarget),
  reason: maybe(text),
  status: whole,
  /** The code of the refusal. */
  code: maybe(text),
})

/** One request of an operator that would change something, also if it was refused. In the partition of the whole store. */
export interface AuditEntry extends InferRecord<typeof auditEntry> {}
