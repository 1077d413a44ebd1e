import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { EngineError } from '../../../kernel/engine-error.ts'
import {
  asEngineError,
  causeOf,
  isConnectionLost,
  isRefusedRow,
  isServerError,
  refusedRowText,
  sqlState,
} from './postgres-error.ts'
import type { ServerError } from './postgres-error.ts'

/** As the client makes it of what the server answers: with the row that was refused, if one was. */
class DatabaseError extends Error {
  override readonly name = 'error'
  readonly severity = 'ERROR'
  readonly detail = 'Failing row contains (0-1, hush).'
  readonly where = 'unnamed portal parameter $1 = hush'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

function refusal(code: string, message = 'the words of the server', fields: object = {}): DatabaseError {
  return Object.assign(new DatabaseError(code, message), fields)
}

function failure(message: string, code?: string): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code })
}

describe('what a server refuses', () => {
  test.each([
    ['08006', 'connection failure', 'store_unavailable', '(08006): connection failure.'],
    ['25006', 'cannot execute INSERT in a read-only transaction', 'store_unavailable', 'Name its primary'],
    ['25P03', '', 'store_unavailable', 'idle for too long'],
    ['25P04', '', 'store_unavailable', 'transaction_timeout'],
    ['26000', 'prepared statement "ff_lock" does not exist', 'invalid_configuration', '"prepare=false"'],
    ['42P05', 'prepared statement "ff_lock" already exists', 'invalid_configuration', '"prepare=false"'],
    [
      '3F000',
      'schema "shop" does not exist',
      'store_not_found',
      'schema "shop" does not exist. Tables of the store were dropped',
    ],
    ['40001', 'could not serialize access', 'store_busy', 'in the way'],
    ['40P01', 'deadlock detected', 'store_busy', 'deadlock'],
    [
      '42501',
      'permission denied for table meta',
      'invalid_configuration',
      'needs: permission denied for table meta. docs',
    ],
    ['42703', 'column "lane" does not exist', 'store_not_found', 'were dropped or changed'],
    ['42P01', 'relation "shop.meta" does not exist', 'store_not_found', 'is only in a backup'],
    ['53100', 'could not extend file', 'store_full', 'disk of the server is full'],
    ['53200', 'out of memory', 'store_full', 'out of memory'],
    ['53300', 'sorry, too many clients already', 'store_unavailable', 'max_connections'],
    ['55P03', 'canceling statement due to lock timeout', 'store_busy', 'kept its lock'],
    ['57014', 'canceling statement due to statement timeout', 'store_busy', 'statement_timeout'],
    ['57P01', 'terminating connection', 'store_unavailable', 'an administrator'],
    ['57P02', 'terminating connection', 'store_unavailable', 'crash'],
    ['57P03', 'the database system is starting up', 'store_unavailable', 'starting up'],
    ['57P04', 'database was dropped', 'store_unavailable', 'was dropped'],
    ['57P05', 'terminating connection', 'store_unavailable', 'idle_session_timeout'],
    ['XX001', 'invalid page in block 7', 'corruption', 'backup'],
    ['XX002', 'index corrupted', 'corruption', 'reindex'],
    ['XX000', 'something new.', 'store_unavailable', '(XX000): something new.'],
    ['23514', 'new row violates a constraint', 'store_unavailable', '(23514)'],
  ])('with %s, "%s", is answered as %s', (state, message, code, part) => {
    const error = asEngineError(refusal(state, message))

    expect(error.code).toBe(code)
    expect(error.message).toContain(part)
    expect(error.detail.field).toBe(code === 'invalid_configuration' ? 'location' : undefined)
  })

  test.each([
    refusal('23514', 'new row for relation "execution" violates check constraint "whole"'),
    refusal('22P02', 'invalid input syntax for type bigint: "hush"'),
    refusal('22021', 'invalid byte sequence for encoding "UTF8": 0x00 hush'),
    refusal('22003', 'value "hush" is out of range for type integer'),
    refusal('42P01', 'relation "meta" does not exist'),
    refusal('XX000', 'something new'),
  ])('does not hold the row that was sent, however it is printed: %s', (error) => {
    const told = asEngineError(error)

    expect(inspect(told, { depth: null, showHidden: true })).not.toContain('hush')
    expect(JSON.stringify(told)).not.toContain('hush')
  })

  test('has a code of the standard, unlike any other error', () => {
    expect(sqlState(refusal('40P01'))).toBe('40P01')
    expect(sqlState(refusal('XX000'))).toBe('XX000')
    expect(sqlState(failure('write EPIPE', 'EPIPE'))).toBeUndefined()
    expect(sqlState(failure('no code'))).toBeUndefined()
    expect(sqlState({ code: '40P01' })).toBeUndefined()
  })
})

describe('a row that is refused', () => {
  test.each([
    ['23505', true],
    ['23514', true],
    ['22003', true],
    ['54000', true],
    ['40001', false],
    ['42P01', false],
    ['53100', false],
  ])('is known by its class: %s %s', (state, isRefused) => {
    expect(isRefusedRow(refusal(state))).toBe(isRefused)
  })

  test.each<[ServerError, string]>([
    [
      refusal('23514', 'new row violates', { table: 'execution', constraint: 'execution_state_is_whole' }),
      'The database refused a row (23514): constraint execution_state_is_whole, table execution',
    ],
    [
      refusal('23502', 'null value in column', { table: 'execution', column: 'lane' }),
      'The database refused a row (23502): column lane, table execution',
    ],
    [refusal('22003', 'integer out of range'), 'The database refused a row (22003): integer out of range'],
    [
      refusal('54000', 'index row size 2800 exceeds btree version 4 maximum 2704 for index "entry_pkey"'),
      'The database refused a row (54000): index row size 2800 exceeds btree version 4 maximum 2704 for index "…"',
    ],
    [
      refusal('22P02', 'invalid input syntax for type bigint: "hush"'),
      'The database refused a row (22P02): invalid input syntax for type bigint',
    ],
  ])('names the rule that refused it: %s', (error, text) => {
    expect(refusedRowText(error)).toBe(text)
  })
})

describe('a connection', () => {
  test.each([
    refusal('08006'),
    refusal('57P01'),
    refusal('57P05'),
    refusal('25P03'),
    failure('read ECONNRESET', 'ECONNRESET'),
    failure('write EPIPE', 'EPIPE'),
    failure('connect ETIMEDOUT', 'ETIMEDOUT'),
    failure('Connection terminated'),
    failure('Connection terminated unexpectedly'),
    failure('Client has encountered a connection error and is not queryable'),
    failure('Query read timeout'),
  ])('is lost after %s', (error) => {
    expect(isConnectionLost(error)).toBe(true)
    expect(isServerError(error)).toBe(true)
    expect(asEngineError(error)).toMatchObject({ code: 'store_unavailable', isRetryable: true })
  })

  test.each([refusal('40001'), refusal('57014'), refusal('23505'), refusal('42P01'), refusal('55P03')])(
    'is still there after %s',
    (error) => {
      expect(isConnectionLost(error)).toBe(false)
      expect(isServerError(error)).toBe(true)
    },
  )

  test.each([new TypeError('x is undefined'), new EngineError('fabric_closed'), 'Connection terminated'.length])(
    'has nothing to do with %s',
    (error) => {
      expect(isConnectionLost(error)).toBe(false)
      expect(isServerError(error)).toBe(false)
    },
  )
})

describe('what else can fail', () => {
  test('is an unavailable store, with the reason', () => {
    expect(asEngineError(failure('read ECONNRESET', 'ECONNRESET')).message).toContain('failed: read ECONNRESET.')
    expect(asEngineError('no error at all').message).toContain('no error at all')
  })

  test.each([
    ['Connection terminated unexpectedly', 'was lost'],
    ['Connection terminated due to connection timeout', 'did not answer in time'],
    ['Client has encountered a connection error and is not queryable', 'no connection'],
    ['Query read timeout', 'did not answer in time'],
    ['timeout expired', 'did not answer in time'],
  ])('replaces messages of `pg` about itself: %s', (text, meaning) => {
    const { message } = asEngineError(failure(text))

    expect(message).toContain(meaning)
    expect(message).not.toContain(text)
  })

  test('an error of ours stays the same', () => {
    const closed = new EngineError('fabric_closed')
    expect(asEngineError(closed)).toBe(closed)
  })
})

test('a cause keeps the name, the code and the words of an error, and nothing else', () => {
  const cause = causeOf(refusal('57P01', 'terminating connection due to administrator command'))

  expect(cause).toMatchObject({ name: 'error', message: 'terminating connection due to administrator command' })
  expect(Object.keys(cause)).toEqual(['name', 'code'])
  expect(causeOf('text').message).toBe('text')
  expect(causeOf(new AggregateError([failure('one'), failure('two')])).message).toBe('one, two')
})
