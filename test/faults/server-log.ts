/** Reads the log of a PostgreSQL server as its operator does: whatever no fault explains is a fault. */
import type { PostgresServer } from '../servers/postgres-server.ts'

/** Whatever is done to processes and connections, these are mistakes of the client. */
const NEVER = /deadlock|could not serialize|no transaction in progress|already a transaction in progress/
const COMPLAINT = /\b(WARNING|ERROR|FATAL|PANIC): /

/** A client that was there is not there any more. */
export const CLIENT_GONE = /connection to client lost|unexpected EOF|Connection reset by peer|Broken pipe/
/** A connection, or the whole server, was ended. */
export const ENDED =
  /terminating connection due to (administrator command|unexpected postmaster exit)|canceling authentication/
/** A connection that was to be ended had ended by itself since the list of connections was made. */
export const ALREADY_ENDED = /WARNING: {2}PID \d+ is not a PostgreSQL backend process/
export const AWAY = /the database system is (starting up|shutting down|in recovery mode|not yet accepting connections)/
/** What was still under way is taken back, because one process of the server has died. */
export const CRASHED = /terminating connection because of crash of another server process/
/** A transaction in the middle of which its client fell silent. */
export const IDLE = /terminating connection due to idle-in-transaction timeout/
/** A wait for a lock gives up, and the statements sent after it fail. */
export const LOCK_WAITED = /canceling statement due to statement timeout|current transaction is aborted/

/** Complaints of the server that none of these explains. */
export function unexplainedLines(server: PostgresServer, ...explained: readonly RegExp[]): string[] {
  const isExplained = (line: string): boolean => explained.some((pattern) => line.search(pattern) >= 0)
  return [...server.logLines(NEVER), ...server.logLines(COMPLAINT).filter((line) => !isExplained(line))]
}
