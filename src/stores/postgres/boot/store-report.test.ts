import { describe, expect, test } from 'vitest'
import { parseLocation } from '../../open/location.ts'
import type { PostgresLocation } from '../options/postgres-location.ts'
import type { ServerFacts } from './server-check.ts'
import { inboxCounts, reportOf, warningsOf } from './store-report.ts'

const sound: ServerFacts = {
  version: '15.18',
  isSynced: true,
  hasFullPageWrites: true,
  synchronousCommit: 'on',
  isVacuumed: true,
  connectionLimit: 97,
  statementTimeoutMs: undefined,
  idleTimeoutMs: undefined,
}
const HERE = 'postgres://user:hush@host/shop?schema=mine'

const NO_STAGED = { connectionCount: 5, waitingInboxCount: 0, failedInboxCount: 0 }

function report(changes: Partial<ServerFacts> = {}, counts = NO_STAGED) {
  return reportOf(parseLocation(HERE) as PostgresLocation, { ...sound, ...changes }, counts)
}

describe('a report', () => {
  test('names the version and where the store is, without user and password', () => {
    expect(report()).toEqual({
      kind: 'postgres',
      version: '15.18',
      location: 'postgres://host:5432/shop, schema mine',
      durability: 'write-ahead log, synchronous_commit on: acknowledged commits survive a power failure',
      warnings: [],
    })
  })

  test.each<[Partial<ServerFacts>, string]>([
    [{ isSynced: false }, 'can destroy the whole database'],
    [{ synchronousCommit: 'off' }, 'can lose the last acknowledged commits'],
    [{ synchronousCommit: 'local' }, 'survive a power failure'],
    [{ synchronousCommit: 'remote_write' }, 'on a standby if'],
    [{ synchronousCommit: 'remote_apply' }, 'on a standby if'],
  ])('states with %j what survives', (changes, part) => {
    expect(report(changes).durability).toContain(part)
  })

  test.each([
    [1, '1 staged submit could not', 'or delete it.'],
    [7, '7 staged submits could not', 'or delete them.'],
    [1_000, 'At least 1000 staged submits', 'or delete them.'],
  ])('warns of %i submits that were set aside, and where they are', (count, what, end) => {
    const { warnings } = report({}, { ...NO_STAGED, failedInboxCount: count })

    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(what)
    expect(warnings[0]).toContain('"failure" in mine.inbox')
    expect(warnings[0]).toContain(end)
  })

  test.each([
    [10, 5, 0],
    [9, 5, 1],
  ])('of a server with %i connections, of which a process may use %i, has %i warnings', (limit, used, count) => {
    const { warnings } = report({ connectionLimit: limit }, { ...NO_STAGED, connectionCount: used })

    expect(warnings).toHaveLength(count)
    expect(warnings.join()).toContain(count === 0 ? '' : 'Raise "max_connections", or lower postgres.connections.')
  })
})

describe('a server', () => {
  test('with nothing wrong is not warned of', () => {
    expect(warningsOf(sound)).toEqual([])
  })

  test.each<[Partial<ServerFacts>, string]>([
    [{ isSynced: false }, 'Set "fsync = on".'],
    [{ hasFullPageWrites: false }, 'Set "full_page_writes = on".'],
    [{ synchronousCommit: 'off' }, 'Set "synchronous_commit = on"'],
    [{ isVacuumed: false }, 'Set "autovacuum = on" and "track_counts = on".'],
    [{ statementTimeoutMs: 4_999 }, 'after 4999 ms'],
    [{ idleTimeoutMs: 59_999 }, 'idle for 59999 ms'],
  ])('with %j is warned of, with what to set', (changes, part) => {
    const [warning, ...others] = warningsOf({ ...sound, ...changes })

    expect(warning).toContain(part)
    expect(others).toEqual([])
  })

  test.each<[Partial<ServerFacts>]>([
    [{ statementTimeoutMs: 5_000 }],
    [{ idleTimeoutMs: 60_000 }],
    [{ synchronousCommit: 'local' }],
  ])('with %j is left in peace', (changes) => {
    expect(warningsOf({ ...sound, ...changes })).toEqual([])
  })
})

test('warns of submits that stay staged, and what would take them', () => {
  const { warnings } = report({}, { ...NO_STAGED, waitingInboxCount: 3 })

  expect(warnings).toEqual([expect.stringContaining('3 staged submits have waited')])
  expect(warnings[0]).toContain('Start a worker or an engine')
})

test('submits that wait or were set aside are counted in the schema of the store, up to a bound', async () => {
  const asked: string[] = []
  const session = {
    query: async (text: string) => {
      asked.push(text)
      return [{ count: 3 }]
    },
  }

  expect(await inboxCounts(session, 'mine')).toEqual({ failedInboxCount: 3, waitingInboxCount: 3 })
  expect(asked.join()).toMatch(/from "mine"\.inbox where failure is not null limit 1000/)
})
