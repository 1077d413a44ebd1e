/**
 * Records what operators did: in the store, where every server of the store finds it, and in the trail of the host, if there is one.
 * Where the store keeps none, the trail of the host is read, or what this process remembers.
 */
import { AUDIT_ENTRY_MAX, AUDIT_KEEP_MS, AUDIT_TARGET_MAX, AUDIT_TEXT_LENGTH } from '../../kernel/index.ts'
import type { Client } from '../../client/index.ts'
import type { Fabric } from '../../fabric/index.ts'
import { endWithin, errorFields } from '../../runtime/index.ts'
import { ADMISSION_LEVEL } from '../../stores/level/store-level.ts'
import { STORE_PARTITION } from '../../stores/partitions.ts'
import { auditFailures } from '../metrics/http-metrics.ts'
import { RecentActions } from './audit.ts'
import type { Audit, AuditEntry, AuditPage } from './audit.ts'

/** How long the answer to a request waits for the store. A later failure is reported too. */
const STORE_WAIT_MS = 5_000

/** Which entries are listed. */
export interface TrailQuery {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly action?: string | undefined
  readonly by?: string | undefined
  readonly target?: string | undefined
}

export class AuditTrail {
  readonly #fabric: Fabric
  readonly #host: Audit | undefined
  readonly #recent = new RecentActions()

  constructor(fabric: Fabric, host: Audit | undefined) {
    this.#fabric = fabric
    this.#host = host
  }

  /** Whether the entries are in the store or in a trail of the host, instead of in this process alone. */
  get isKept(): boolean {
    return this.#isStored() || this.#host?.read !== undefined
  }

  /** The action is done when its entry is written, so a trail that fails is reported and changes no answer. */
  async record(entry: AuditEntry): Promise<void> {
    const host = this.#host
    const written = host === undefined ? undefined : this.#attempt('host', entry, async () => await host(entry))
    if (this.#isStored()) {
      const stored = this.#attempt('store', entry, () => this.#store(entry))
      await endWithin(this.#fabric.runtime, STORE_WAIT_MS, stored)
    } else this.#recent.add(entry)
    await written
  }

  /** Lists the latest entries first. `client` decides the namespace. */
  async list(client: Client, { limit, cursor, action, by, target }: TrailQuery): Promise<AuditPage> {
    if (this.#isStored()) {
      return await client.audit({
        limit,
        ...(cursor === undefined ? {} : { cursor }),
        ...(action === undefined ? {} : { action }),
        ...(by === undefined ? {} : { by }),
        ...(target === undefined ? {} : { target }),
      })
    }
    const within = client === this.#fabric ? undefined : client.namespace
    const accepts = (entry: AuditEntry) =>
      (within === undefined || entry.namespace === within) &&
      (action === undefined || entry.action === action) &&
      (by === undefined || entry.credential === by || entry.by === by) &&
      (target === undefined || Object.values(entry.target).includes(target))
    const query = { limit, cursor, accepts }
    return (await this.#host?.read?.(query)) ?? this.#recent.read(query)
  }

  /** A server behind another one is a client of it, and that one keeps the trail. */
  #isStored(): boolean {
    const { store } = this.#fabric
    return store.level >= ADMISSION_LEVEL && store.isRemote !== true
  }

  async #store(entry: AuditEntry): Promise<void> {
    const { batcher, runtime } = this.#fabric
    const { requestId, credential, role, by, namespace, address, action, target, reason, status, code } = entry
    await batcher.run(STORE_PARTITION, 'recordAuditEntry', {
      entryId: runtime.uuid(),
      keepMs: AUDIT_KEEP_MS,
      keepCount: AUDIT_ENTRY_MAX,
      requestId: cut(requestId),
      credential: cut(credential),
      role,
      by: by && cut(by),
      namespace,
      address: address && cut(address),
      action,
      targets: Object.entries(target)
        .slice(0, AUDIT_TARGET_MAX)
        .map(([name, value]) => ({ name: cut(name), value: cut(value) })),
      reason: reason && cut(reason),
      status,
      code,
    })
  }

  async #attempt(trail: 'host' | 'store', entry: AuditEntry, write: () => Promise<void>): Promise<void> {
    try {
      await write()
    } catch (error) {
      const { requestId, action, credential } = entry
      this.#fabric.metrics.add(auditFailures, { trail })
      this.#fabric.log.error(
        { trail, requestId, action, credential, ...errorFields(error) },
        'the audit entry of an action could not be recorded',
      )
    }
  }
}

function cut(text: string): string {
  return text.length <= AUDIT_TEXT_LENGTH ? text : text.slice(0, AUDIT_TEXT_LENGTH).toWellFormed()
}
