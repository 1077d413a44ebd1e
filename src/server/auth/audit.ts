/** A trail of what operators did: who, what, why, and whether it was done. */
import { EngineError } from '../../kernel/engine-error.ts'
import type { Role } from './principal.ts'

/** One request of an operator that would change something, also if it was refused. */
export interface AuditEntry {
  readonly at: number
  readonly requestId: string
  /** The name and the role of the credentials. */
  readonly credential: string
  readonly role: Role
  /** In whose name it was done, if the request names one. */
  readonly by: string | undefined
  /** The namespace that it acted in; undefined for the store as a whole, or all namespaces. */
  readonly namespace: string | undefined
  readonly address: string | undefined
  /** The name of the route, such as `cancelExecution`. */
  readonly action: string
  /** What it concerned: the parameters of the path. */
  readonly target: Readonly<Record<string, string>>
  readonly reason: string | undefined
  readonly status: number
  /** The code of the refusal. */
  readonly code: string | undefined
}

/** Which entries are read. */
export interface AuditQuery {
  readonly limit: number
  /** The cursor of the page before. */
  readonly cursor: string | undefined
  readonly accepts: (entry: AuditEntry) => boolean
}

export interface AuditPage {
  /** The latest first. A short page may have a cursor too. */
  readonly items: readonly AuditEntry[]
  readonly cursor: string | undefined
}

/** Records an entry. The request is answered when this has resolved. */
export interface Audit {
  (entry: AuditEntry): void | Promise<void>
  /** Reads entries again, for `GET /v1/audit` on a store that keeps none. Without it, the server lists the latest ones of its process. */
  readonly read?: (query: AuditQuery) => Promise<AuditPage>
}

/** Entries that a server without a readable trail keeps. */
const KEPT_MAX = 1_000
const CURSOR = /^am1\.(\d{1,15})$/

/** The latest actions of this process, where neither the store nor the host has a trail that can be read. */
export class RecentActions {
  readonly #entries: AuditEntry[] = []
  /** How many entries were added before the first one that is kept. */
  #dropped = 0

  add(entry: AuditEntry): void {
    this.#entries.push(entry)
    if (this.#entries.length <= KEPT_MAX) return
    this.#entries.shift()
    this.#dropped += 1
  }

  read({ limit, cursor, accepts }: AuditQuery): AuditPage {
    const end = cursor === undefined ? this.#entries.length : this.#placeOf(cursor)
    const items: AuditEntry[] = []
    for (let i = end - 1; i >= 0; i--) {
      const entry = this.#entries[i]
      if (entry === undefined || !accepts(entry)) continue
      items.push(entry)
      if (items.length === limit) return { items, cursor: i === 0 ? undefined : `am1.${this.#dropped + i}` }
    }
    return { items, cursor: undefined }
  }

  #placeOf(cursor: string): number {
    const place = Number(CURSOR.exec(cursor)?.[1] ?? Number.NaN) - this.#dropped
    if (Number.isNaN(place)) throw new EngineError('invalid_cursor', { field: 'cursor' })
    return Math.max(0, Math.min(place, this.#entries.length))
  }
}
