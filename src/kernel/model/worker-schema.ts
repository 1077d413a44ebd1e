/** The registration of a worker process, as it is stored. New fields, words and variants go to the end. */
import { frozen, frozenList, frozenObject, maybe, rare, record, text, union, whole } from './field-kinds.ts'
import type { InferRecord } from './field-kinds.ts'

/** Only a registration, never a heartbeat, leads from lost or dead back to running. */
const workerState = union('phase', {
  running: frozen({}),
  /** The worker finishes its current work and claims nothing more. */
  draining: frozen({ since: whole }),
  /** The worker sent no heartbeat for its ttl. `silentMs` counts from its last heartbeat. */
  lost: frozen({ at: whole, silentMs: whole }),
  /** An operator declared that the process has ended. */
  dead: frozen({ at: whole, by: maybe(text), reason: text }),
})

/** Without a version, the worker serves executions without one. */
const servedTask = frozenObject({ name: text, version: maybe(whole) })

const drainRequest = frozenObject({ at: whole, by: maybe(text), reason: maybe(text) })

export const worker = record('worker', {
  /** The worker instance: one process, as its leases name it. */
  id: text,
  /** The pool, which many instances may share. */
  workerId: text,
  /** Changes with every start of the worker, so that an earlier start cannot renew the registration of a later one. */
  bootId: text,
  /** The namespace that it serves. Empty: all. */
  namespace: text,
  state: workerState,
  lanes: frozenList(text),
  tasks: frozenList(servedTask),
  capabilities: frozenList(text),
  slots: whole,
  runningCount: whole,
  host: text,
  pid: whole,
  /** The version of the library. */
  version: text,
  startedAt: whole,
  registeredAt: whole,
  heartbeatAt: whole,
  ttlMs: whole,
  leaseTtlMs: whole,
  /** An operator has asked the worker to drain. */
  drain: rare(drainRequest),
  /** When the leases of a lost or dead worker were revoked in every partition. */
  sweptAt: rare(whole),
})

export interface Worker extends InferRecord<typeof worker> {}
