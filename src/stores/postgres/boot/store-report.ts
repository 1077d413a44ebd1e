/** Reports a server and a store to an operator: version, durability, and warnings. */
import type { StoreReport } from '../../store.ts'
import { quoted } from '../wire/session.ts'
import type { Session } from '../wire/session.ts'
import { shownLocation } from '../options/postgres-location.ts'
import type { PostgresLocation } from '../options/postgres-location.ts'
import type { ServerFacts } from './server-check.ts'

/** A batch takes milliseconds. With a shorter timeout, batches would fail again and again while the disk is slow. */
const STATEMENT_TIMEOUT_MIN_MS = 5_000

/** The listening connection is idle by nature. */
const IDLE_TIMEOUT_MIN_MS = 60_000
const INBOX_COUNT_MAX = 1_000

/** Workers and engines take staged submits within a few seconds. */
const INBOX_WAIT_S = 10

/** The numbers of a report. */
export interface StoreCounts {
  /** Connections that this process may use at once. */
  readonly connectionCount: number
  /** Staged submits that have waited for longer than a worker or an engine would leave them. */
  readonly waitingInboxCount: number
  /** Staged submits that could not be turned into executions. */
  readonly failedInboxCount: number
}

export function reportOf(location: PostgresLocation, server: ServerFacts, counts: StoreCounts): StoreReport {
  return {
    kind: 'postgres',
    version: server.version,
    location: shownLocation(location),
    durability: durabilityOf(server),
    warnings: [
      ...warningsOf(server),
      ...connectionWarnings(server, counts.connectionCount),
      ...inboxWarnings(location, counts),
    ],
  }
}

function durabilityOf({ isSynced, synchronousCommit }: ServerFacts): string {
  if (!isSynced) return 'fsync off: a power failure can destroy the whole database'
  switch (synchronousCommit) {
    case 'off':
      return 'write-ahead log, synchronous_commit off: a crash of the server can lose the last acknowledged commits'
    case 'remote_write':
    case 'remote_apply':
      return `write-ahead log, synchronous_commit ${synchronousCommit}: acknowledged commits survive a power failure, and are on a standby if one is configured`
    default:
      return `write-ahead log, synchronous_commit ${synchronousCommit}: acknowledged commits survive a power failure`
  }
}

/** Shown by `doctor`, and logged when the store is opened. */
export function warningsOf(server: ServerFacts): string[] {
  return [...durabilityWarnings(server), ...upkeepWarnings(server), ...timeoutWarnings(server)]
}

function durabilityWarnings({ isSynced, hasFullPageWrites, synchronousCommit }: ServerFacts): string[] {
  const warnings: string[] = []
  if (!isSynced) {
    warnings.push(
      'The server does not flush writes to the disk: a power failure can destroy the database. Set "fsync = on".',
    )
  }
  if (!hasFullPageWrites) {
    warnings.push('A power failure can leave half-written pages behind. Set "full_page_writes = on".')
  }
  if (synchronousCommit === 'off') {
    warnings.push(
      'The server acknowledges a commit before it is on the disk: a crash can lose the last commits. Set "synchronous_commit = on", at least for this user.',
    )
  }
  return warnings
}

function upkeepWarnings({ isVacuumed }: ServerFacts): string[] {
  if (isVacuumed) return []
  return [
    'The server does not vacuum by itself, so the tables grow without end and get slower. Set "autovacuum = on" and "track_counts = on".',
  ]
}

function connectionWarnings({ connectionLimit }: ServerFacts, connectionCount: number): string[] {
  if (connectionLimit >= 2 * connectionCount) return []
  return [
    `The server has ${connectionLimit} connections for all, and this process may use ${connectionCount} of them: a second process does not fit beside it. Raise "max_connections", or lower postgres.connections.`,
  ]
}

function timeoutWarnings({ statementTimeoutMs, idleTimeoutMs }: ServerFacts): string[] {
  const warnings: string[] = []
  if (statementTimeoutMs !== undefined && statementTimeoutMs < STATEMENT_TIMEOUT_MIN_MS) {
    warnings.push(
      `The server ends statements or transactions after ${statementTimeoutMs} ms, so batches can fail again and again while it is slow. Set "statement_timeout" and "transaction_timeout" to 0 for this user.`,
    )
  }
  if (idleTimeoutMs !== undefined && idleTimeoutMs < IDLE_TIMEOUT_MIN_MS) {
    warnings.push(
      `The server ends connections that are idle for ${idleTimeoutMs} ms, as the one that listens for wake-ups is. Set "idle_session_timeout" to 0 for this user.`,
    )
  }
  return warnings
}

/** Counts failed and overdue staged submits, up to a bound. */
export async function inboxCounts(
  session: Session,
  schema: string,
): Promise<Pick<StoreCounts, 'failedInboxCount' | 'waitingInboxCount'>> {
  const count = async (condition: string) => {
    const [row] = await session.query(
      `select count(*)::integer as count
        from (select 1 from ${quoted(schema)}.inbox where ${condition} limit ${INBOX_COUNT_MAX}) as counted`,
    )
    return Number(row?.['count'])
  }
  return {
    failedInboxCount: await count('failure is not null'),
    waitingInboxCount: await count(`failure is null and staged_at < now() - interval '${INBOX_WAIT_S} seconds'`),
  }
}

function inboxWarnings(location: PostgresLocation, { waitingInboxCount, failedInboxCount }: StoreCounts): string[] {
  const waiting = waitingInboxCount === 0 ? [] : [waitingWarning(waitingInboxCount)]
  return [...waiting, ...failedWarnings(location, failedInboxCount)]
}

function waitingWarning(count: number): string {
  const many = count < INBOX_COUNT_MAX ? String(count) : `At least ${count}`
  return `${many} staged submits have waited for more than ${INBOX_WAIT_S} seconds to become executions. Start a worker or an engine: either takes them.`
}

function failedWarnings({ schema }: PostgresLocation, count: number): string[] {
  if (count === 0) return []
  const many = count < INBOX_COUNT_MAX ? String(count) : `At least ${count}`
  const [what, them] = count === 1 ? ['1 staged submit', 'it'] : [`${many} staged submits`, 'them']
  return [
    `${what} could not be turned into executions. Look at "failure" in ${schema}.inbox; set it to null to try again, or delete ${them}.`,
  ]
}
