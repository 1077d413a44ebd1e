import { describe, expect, test } from 'vitest'
import { parseLocation } from '../../open/location.ts'
import type { ServerFacts } from './server-check.ts'
import { reportOf, warningsOf } from './store-report.ts'
import type { ValkeyLocation } from '../options/valkey-location.ts'

const durable: ServerFacts = {
  product: 'Valkey',
  version: '8.0.1',
  maxmemoryPolicy: 'noeviction',
  isAppendOnly: true,
  appendFsync: 'everysec',
  hasSnapshots: false,
  isCluster: false,
  isReplica: false,
  usedMemoryBytes: 50,
  maxmemoryBytes: 100,
  keyCounts: new Map([
    [0, 5],
    [2, 7],
  ]),
}

function report(location: string, ...servers: ServerFacts[]) {
  return reportOf(parseLocation(location) as ValkeyLocation, servers)
}

describe('a report', () => {
  test('names the product, its version and where it is, without user and password', () => {
    expect(report('valkey://user:hush@host/2?prefix=shop', durable)).toEqual({
      kind: 'valkey',
      version: '8.0.1',
      location: 'valkey://host:6379/2, prefix shop',
      durability: expect.stringMatching(/^append-only file, synced every second: /) as unknown,
      warnings: [],
      keyCount: 7,
    })
    expect(report('redis://host', { ...durable, product: 'Redis', version: '7.0.15' })).toMatchObject({
      kind: 'redis',
      version: '7.0.15',
    })
  })

  test('of a cluster says once what is true of all servers, and shows where they differ', () => {
    const older = { ...durable, version: '8.0.0', isAppendOnly: false }
    const { kind, version, durability, warnings, keyCount } = report('valkey-cluster://a,b', durable, older, durable)

    expect([kind, version]).toEqual(['valkey cluster', '8.0.1, 8.0.0'])
    expect(durability).toMatch(/^append-only file, synced every second: .*; none: /)
    expect(warnings).toHaveLength(1)
    expect(keyCount).toBe(15)
  })

  test.each<[Partial<ServerFacts>, string]>([
    [{ appendFsync: 'always' }, 'survive a power failure'],
    [{ appendFsync: 'everysec' }, 'the last second'],
    [{ appendFsync: 'no' }, 'not of the machine'],
    [{ appendFsync: undefined }, 'this user may not see'],
    [{ isAppendOnly: false, hasSnapshots: true }, 'since the last snapshot'],
    [{ isAppendOnly: false, hasSnapshots: false }, 'everything is lost'],
    [{ isAppendOnly: false, hasSnapshots: undefined }, 'this user may not see'],
  ])('states with %j which writes survive', (facts, part) => {
    expect(report('valkey://host', { ...durable, ...facts }).durability).toContain(part)
  })
})

describe('a server without an append-only file', () => {
  test.each([
    [false, 'everything is lost'],
    [true, 'everything since the last snapshot is lost'],
    [undefined, 'everything since the last snapshot is lost'],
  ])('is warned of, whether it takes snapshots (%s) or not, with what to set', (hasSnapshots, part) => {
    const [warning, ...others] = warningsOf({ ...durable, isAppendOnly: false, hasSnapshots })

    expect(warning).toContain(part)
    expect(warning).toContain('Set "appendonly yes" and "appendfsync everysec".')
    expect(others).toEqual([])
  })
})

describe('a server that is nearly full', () => {
  test.each([
    [89, 100, undefined],
    [90, 100, '90 %'],
    [120, 100, '120 %'],
    [1_000_000, 0, undefined],
  ])('with %i of %i bytes in use is warned of in time', (usedMemoryBytes, maxmemoryBytes, part) => {
    const warnings = warningsOf({ ...durable, usedMemoryBytes, maxmemoryBytes })

    expect(warnings).toHaveLength(part === undefined ? 0 : 1)
    expect(warnings.join()).toContain(part ?? '')
  })
})
