/** Maps errors of the server, by SQLSTATE, and of the connection to engine errors. */
import type { ErrorCode } from '../../../kernel/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'

/** Five digits or letters. Some codes of Node are as long, but begin with an E, as no class of the standard does. */
const SQLSTATE = /^[0-9A-DF-Z][0-9A-Z]{4}$/

/** Returns the SQLSTATE of an error of the server; undefined for any other error. */
export function sqlState(error: unknown): string | undefined {
  const code = codeOf(error)
  return SQLSTATE.test(code) ? code : undefined
}

/** Returns the `code` of an error of the server or of Node; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** An error that `pg` makes of a reply of the server. */
export interface ServerError extends Error {
  readonly code: string
  readonly table?: string | undefined
  readonly column?: string | undefined
  readonly constraint?: string | undefined
}

/** Whether the rows of an operation were refused, so that a retry of the operation fails again. */
export function isRefusedRow(error: unknown): error is ServerError {
  // Constraint violations, values that do not fit their column, rows that do not fit into an index.
  return /^(22|23|54)/.test(sqlState(error) ?? '')
}

/** Names the constraint, column and table that refused a row, and never a value. */
export function refusedRowText(error: Error): string {
  const { code = '', table, column, constraint }: Partial<ServerError> = error
  const where = [
    ...(constraint === undefined ? [] : [`constraint ${constraint}`]),
    ...(column === undefined ? [] : [`column ${column}`]),
    ...(table === undefined ? [] : [`table ${table}`]),
  ]
  const rule = where.length === 0 ? withoutValues(error.message) : where.join(', ')
  return `The database refused a row (${code}): ${rule}`
}

/** Values stand in quotes and after a colon, as in `invalid input syntax for type bigint: "x"`. */
function withoutValues(text: string): string {
  return (text.split(': ', 1)[0] ?? '').replaceAll(/"[^"]*"/g, '"…"')
}

/** Codes by which the server ends a connection: a shutdown, or a timeout of a connection or a transaction. */
const ENDING = /^(08...|57P0[1-5]|25P03|25P04)$/

/** Errors of sockets. */
const SOCKET =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN|ENOENT|ERR_STREAM_.*|ERR_SOCKET_.*)$/

/** Messages of `pg` for lost connections. */
const clientTexts: readonly (readonly [part: string, meaning: string])[] = [
  ['Connection terminated due to connection timeout', 'The server did not answer in time.'],
  ['Connection terminated', 'The connection was lost before the answer arrived; connecting again.'],
  ['not queryable', 'There is no connection to the server; connecting again.'],
  ['Query read timeout', 'The server did not answer in time.'],
  ['timeout expired', 'The server did not answer in time.'],
]

/** Whether a connection was lost. The outcome of a commit in flight is then unknown. */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlState(error)
  if (state !== undefined) return ENDING.test(state)
  return SOCKET.test(codeOf(error)) || clientText(error) !== undefined
}

/** Whether the server ended an idle transaction, so that nothing of it was committed. */
export function isIdleEnd(error: unknown): boolean {
  return sqlState(error) === '25P03'
}

/** Whether an error came from the server or the connection, not from the calling code. */
export function isServerError(error: unknown): boolean {
  return sqlState(error) !== undefined || isConnectionLost(error)
}

/** A standby may be promoted, and an address may be moved, so this is retried. */
export const STANDBY =
  'The server is a standby and takes no writes. If it stays one, name its primary in the location, or an address that always leads to it.'
const DOCUMENTED = 'docs/postgres.md lists what must be granted.'
const POOLED =
  'Prepared statements are missing or exist already, as behind a pooler that shares connections: add "prepare=false" to the location.'

const DROPPED =
  'Tables of the store were dropped or changed while it was in use. Their data is only in a backup. ' +
  'If all of them are gone, the next program that opens the store creates them, as "flowfabric migrate" does.'

type Meaning = readonly [code: ErrorCode, message: string]

const meanings: Readonly<Record<string, Meaning>> = {
  '25006': [
    'store_unavailable',
    'The server takes no writes now: it is a standby, or was made read-only. Name its primary in the location, or look at its disk.',
  ],
  '25P03': ['store_unavailable', 'The server ended a transaction that was idle for too long.'],
  '25P04': ['store_unavailable', 'The server ended a transaction that took longer than its transaction_timeout.'],
  '26000': ['invalid_configuration', POOLED],
  '42P05': ['invalid_configuration', POOLED],
  '40001': ['store_busy', 'Another transaction was in the way.'],
  '40P01': ['store_busy', 'The server ended a deadlock with another transaction.'],
  '53100': [
    'store_full',
    'The disk of the server is full: give it more room, or let ended executions be removed sooner.',
  ],
  '53200': ['store_full', 'The server has run out of memory: look at its log and at what else uses it.'],
  '53300': [
    'store_unavailable',
    'The server has no connection left: raise its max_connections, lower postgres.connections, or put a pooler in front of it.',
  ],
  '55P03': ['store_busy', 'Another transaction kept its lock for too long.'],
  '57014': ['store_busy', 'The server ended a statement: it took longer than statement_timeout, or was cancelled.'],
  '57P01': ['store_unavailable', 'The server ended the connection: it shuts down, or an administrator closed it.'],
  '57P02': ['store_unavailable', 'The server ended the connection after another connection crashed, and recovers.'],
  '57P03': ['store_unavailable', 'The server is starting up, shutting down or recovering.'],
  '57P04': ['store_unavailable', 'The database was dropped.'],
  '57P05': [
    'store_unavailable',
    'The server ended a connection that was idle for longer than its idle_session_timeout.',
  ],
  XX001: ['corruption', 'The server finds its own files damaged: look at its log, and restore from a backup.'],
  XX002: ['corruption', 'The server finds an index damaged: look at its log, then "reindex" it.'],
}

/** Converts an error of a call or of opening the store. No text holds data that was sent to the server. */
export function asEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error
  const [code, message] = meaningOf(error)
  const detail = code === 'invalid_configuration' ? { field: 'location', message } : { message }
  return new EngineError(code, detail, { cause: causeOf(error) })
}

function meaningOf(error: unknown): Meaning {
  const state = sqlState(error)
  const text = textOf(error)
  if (state === undefined) {
    return ['store_unavailable', clientText(error) ?? `The server or the connection failed: ${ended(text)}`]
  }
  const known = meanings[state]
  if (known !== undefined) return known
  switch (state) {
    case '42501':
      return ['invalid_configuration', `The user may not do what the store needs: ${ended(text)} ${DOCUMENTED}`]
    case '3F000':
    case '42P01':
    case '42703':
      return ['store_not_found', `The server answers: ${ended(text)} ${DROPPED}`]
    default: {
      const reason = isRefusedRow(error) ? refusedRowText(error) : text
      return ['store_unavailable', `The server refused a statement (${state}): ${ended(reason)}`]
    }
  }
}

function clientText(error: unknown): string | undefined {
  const text = textOf(error)
  return clientTexts.find(([part]) => text.includes(part))?.[1]
}

/** Copies an error without the details that the server adds: they may repeat a row, and with it a payload. */
export function causeOf(error: unknown): Error {
  const text = isRefusedRow(error) ? refusedRowText(error) : textOf(error)
  const cause = new Error(text)
  if (!(error instanceof Error)) return cause
  cause.name = error.name
  const code = codeOf(error)
  return code === '' ? cause : Object.assign(cause, { code })
}

/** A host with several addresses fails with an AggregateError without a message. */
export function textOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(textOf).join(', ')
  return error instanceof Error ? error.message : String(error)
}

function ended(text: string): string {
  return `${text.replace(/\.+$/, '')}.`
}
