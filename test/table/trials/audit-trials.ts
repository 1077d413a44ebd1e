/** Calls that concern the audit trail. */
import type { RecordAuditEntryInput } from '../../../src/kernel/operations/audit/record-audit-entry.ts'
import type { OperationCall } from './operation-call.ts'
import { SOON_MS } from './trial.ts'
import type { Trial } from './trial.ts'
import { step } from './world.ts'
import type { World } from './world.ts'

const entry: RecordAuditEntryInput = {
  entryId: 'entry-1',
  keepMs: 60_000,
  keepCount: 2,
  requestId: 'request-1',
  credential: 'deploy',
  role: 'operator',
  by: 'ada',
  namespace: 'acme',
  address: '10.0.0.7',
  action: 'cancelExecution',
  targets: [{ name: 'id', value: 'order:1' }],
  reason: 'the customer left',
  status: 404,
  code: 'execution_not_found',
}

function recorded(world: World): void {
  step(world, 0, { operation: 'recordAuditEntry', input: entry })
}

function full(world: World): void {
  recorded(world)
  step(world, 0, { operation: 'recordAuditEntry', input: { ...entry, entryId: 'entry-2', namespace: undefined } })
}

function trial(call: OperationCall, manner = '', prepare?: (world: World) => void): Trial {
  return { ...call, manner, atMs: SOON_MS, blobs: [], about: 'registry', prepare }
}

export const auditTrials: readonly Trial[] = [
  trial({ operation: 'recordAuditEntry', input: entry }, 'the first'),
  trial({ operation: 'recordAuditEntry', input: entry }, 'a repeated one', recorded),
  trial({ operation: 'recordAuditEntry', input: { ...entry, entryId: 'entry-3' } }, 'one beyond the bound', full),
  trial({ operation: 'listAuditEntries', input: { limit: 10 } }, 'all', full),
  trial({ operation: 'listAuditEntries', input: { limit: 10, namespace: 'acme' } }, 'of a namespace', full),
]
