import { describe, expect, test } from 'vitest'
import type { EngineError } from '../../../kernel/engine-error.ts'
import { checkServer } from './server-check.ts'
import type { ServerFacts } from './server-check.ts'
import type { Row, Session } from '../wire/session.ts'

const identity: Row = {
  product: 'PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu',
  version: '15.18 (Debian 15.18-0+deb12u1)',
  version_number: 150_018,
  is_standby: false,
  encoding: 'UTF8',
}

const settings: Readonly<Record<string, string>> = {
  autovacuum: 'on',
  fsync: 'on',
  full_page_writes: 'on',
  idle_session_timeout: '0',
  max_connections: '100',
  statement_timeout: '0',
  superuser_reserved_connections: '3',
  synchronous_commit: 'on',
  track_counts: 'on',
  transaction_read_only: 'off',
}

/** A server with these settings. */
function server(identityChanges: Row, settingChanges: Readonly<Record<string, string>> = {}): Session {
  const rows = Object.entries({ ...settings, ...settingChanges }).map(([name, setting]) => ({ name, setting }))
  return {
    query: async (text) => (text.includes('version()') ? [{ ...identity, ...identityChanges }] : rows),
  }
}

async function refusalOf(session: Session): Promise<EngineError> {
  return await checkServer(session).then(
    () => expect.fail('the server was accepted'),
    (error: unknown) => error as EngineError,
  )
}

test('the facts of a server are read', async () => {
  expect(await checkServer(server({}))).toEqual({
    version: '15.18',
    isSynced: true,
    hasFullPageWrites: true,
    synchronousCommit: 'on',
    isVacuumed: true,
    connectionLimit: 97,
    statementTimeoutMs: undefined,
    idleTimeoutMs: undefined,
  })
})

test.each<[Readonly<Record<string, string>>, Partial<ServerFacts>]>([
  [{ fsync: 'off' }, { isSynced: false }],
  [{ full_page_writes: 'off' }, { hasFullPageWrites: false }],
  [{ synchronous_commit: 'remote_apply' }, { synchronousCommit: 'remote_apply' }],
  [{ autovacuum: 'off' }, { isVacuumed: false }],
  [{ track_counts: 'off' }, { isVacuumed: false }],
  [{ max_connections: '20', reserved_connections: '5' }, { connectionLimit: 12 }],
  [{ statement_timeout: '30000' }, { statementTimeoutMs: 30_000 }],
  [{ statement_timeout: '30000', transaction_timeout: '10000' }, { statementTimeoutMs: 10_000 }],
  [{ transaction_timeout: '0' }, { statementTimeoutMs: undefined }],
  [{ idle_session_timeout: '60000' }, { idleTimeoutMs: 60_000 }],
])('%j is known', async (changes, facts) => {
  expect(await checkServer(server({}, changes))).toMatchObject(facts)
})

describe('a server that cannot hold a store', () => {
  test.each<[Row, string]>([
    [{ version_number: 120_022, version: '12.22' }, 'PostgreSQL 12.22, which is too old: use 13 or later'],
    [{ version_number: 90_624, version: '9.6.24' }, 'PostgreSQL 9.6.24'],
    [{ encoding: 'LATIN1' }, 'encoding LATIN1, which cannot hold every text. Name one that was created with'],
    [{ encoding: 'SQL_ASCII' }, 'SQL_ASCII'],
    [{ product: 'CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu)' }, 'The server is CockroachDB, not PostgreSQL'],
  ])('%j is refused with what to change', async (changes, part) => {
    const error = await refusalOf(server(changes))

    expect([error.code, error.detail.field]).toEqual(['invalid_configuration', 'location'])
    expect(error.message).toContain(part)
  })

  test('because it is too new does not exist', async () => {
    expect((await checkServer(server({ version_number: 130_000, version: '13.0' }))).version).toBe('13.0')
    expect((await checkServer(server({ version_number: 990_001, version: '99.1' }))).version).toBe('99.1')
  })

  test.each<[Row, Readonly<Record<string, string>>, string]>([
    [{ is_standby: true }, {}, 'name its primary'],
    [{}, { transaction_read_only: 'on' }, 'default_transaction_read_only'],
  ])('because it takes no writes is unavailable: %j %j', async (changes, settingChanges, part) => {
    const error = await refusalOf(server(changes, settingChanges))

    expect(error).toMatchObject({ code: 'store_unavailable', isRetryable: true })
    expect(error.message).toContain(part)
  })
})
