/** Lists what operators did over servers: the audit trail that the store keeps. */
import { LIST_PAGE_MAX } from '../../kernel/index.ts'
import type { AuditEntry, Instant } from '../../kernel/index.ts'
import { shape, wholeNumber } from '../../options/shape.ts'
import { STORE_PARTITION } from '../../stores/partitions.ts'
import { checkNamespace, checkPlainText } from '../checks/names.ts'
import type { Session } from '../session.ts'
import { cursorOf, positionCursor } from '../transport/id-cursor.ts'

/** One request of an operator that would change something, also if it was refused. */
export interface AuditedAction {
  readonly at: Instant
  readonly requestId: string
  /** The name and the role of the credentials. */
  readonly credential: string
  readonly role: AuditEntry['role']
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

export interface AuditOptions {
  /** At most this many; 50 unless given. */
  readonly limit?: number
  readonly cursor?: string
  readonly namespace?: string
  /** Only this action, such as `cancelExecution`. */
  readonly action?: string
  /** Only of these credentials, or in this name. */
  readonly by?: string
  /** Only actions with a target of this name or id. */
  readonly target?: string
}

export interface AuditedPage {
  /** The latest first. */
  readonly items: readonly AuditedAction[]
  /** Where the next page starts. A short page may have one too. */
  readonly cursor: string | undefined
}

const PAGE_DEFAULT = 50
const FILTER_BYTES_MAX = 1_024
const bySequence = positionCursor('as1')

const listOptions = shape<AuditOptions>()("{ action: 'cancelExecution' }", {
  limit: wholeNumber(1, LIST_PAGE_MAX),
  cursor: bySequence.decode,
  namespace: checkNamespace,
  action: filterText,
  by: filterText,
  target: filterText,
})

export async function listAudit(session: Session, options: AuditOptions): Promise<AuditedPage> {
  const { limit = PAGE_DEFAULT, cursor, namespace, action, by, target } = listOptions(options)
  const input = { limit, cursor, namespace: session.listed(namespace), action, by, target }
  const { result } = await session.runIn(STORE_PARTITION, 'listAuditEntries', input)
  return { items: result.entries.map(shown), cursor: cursorOf(bySequence, result.cursor) }
}

function filterText(value: unknown, field: string): string {
  return checkPlainText(value, field, FILTER_BYTES_MAX)
}

function shown(entry: AuditEntry): AuditedAction {
  const { at, requestId, credential, role, by, namespace, address, action, targets, reason, status, code } = entry
  const target = Object.fromEntries(targets.map(({ name, value }) => [name, value]))
  return { at, requestId, credential, role, by, namespace, address, action, target, reason, status, code }
}
