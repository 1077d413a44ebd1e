/** A commit under the lock and the clock of the server. */
import { beforeEach, describe, expect, test } from 'vitest'
import { Needs } from '../../src/stores/working-set/load/needs.ts'
import { until } from '../servers/until.ts'
import { WITHIN_MS, failedOf } from './commit-effects.ts'
import { locations } from './fabrics.ts'
import { LibraryPartition, absent, group, newVersion, put, within } from './library-calls.ts'

const LOCK_MS = 250

describe.each(['valkey', 'redis'] as const)('on %s, a commit', (program) => {
  let at: LibraryPartition

  beforeEach(async () => {
    at = await LibraryPartition.open(locations()[program])
  })

  describe('and the lock', () => {
    const lock = (token: string) => at.load(new Needs(), { lock: token })
    const writes = [group({ records: [put('a')] })]

    test('is refused while a token holds it, unless it passes or has the token', async () => {
      const [, plain, wrong, passing, right, after] = await within(LOCK_MS, () =>
        Promise.all([
          lock('token 1.'),
          at.commit(writes),
          at.commit(writes, { lock: 'token 2.' }),
          at.commit(writes, { passesLock: true }),
          at.commit(writes, { lock: 'token 1.' }),
          at.commit(writes),
        ]),
      )

      expect([plain, wrong]).toMatchObject([{ reason: 'locked' }, { reason: 'lock_lost' }])
      expect([passing, right, after].map(failedOf)).toEqual([[], [], []])
    })

    test('gives it back also if its conditions fail, but keeps it if its time is refused', async () => {
      const [, failing, , late, right] = await within(LOCK_MS, () =>
        Promise.all([
          lock('token 1.'),
          at.commit([group({ conditions: [{ ...absent('a'), version: newVersion() }] })], { lock: 'token 1.' }),
          lock('token 2.'),
          at.commit([], { lock: 'token 2.', lagMs: 0, now: 1 }),
          at.commit([], { lock: 'token 2.' }),
        ]),
      )

      expect(failedOf(failing)).toEqual([0])
      expect(late).toMatchObject({ kind: 'refused', reason: 'clock' })
      expect(right.kind).toBe('applied')
    })

    test('is applied without a token once it has expired', async () => {
      await lock('token 1.')

      await until('it expires', WITHIN_MS, async () =>
        (await at.commit(writes)).kind === 'applied' ? true : undefined,
      )

      expect(await at.commit(writes, { lock: 'token 1.' })).toMatchObject({ reason: 'lock_lost' })
    })
  })

  describe('and the clock', () => {
    test('is refused if its time is ahead of the server, or further behind than it may be', async () => {
      const now = await at.now()
      const writes = [group({ records: [put('a')] })]

      const ahead = await at.commit(writes, { now: now + 60_000, lagMs: 1_000 })
      const behind = await at.commit(writes, { now: now - 60_000, lagMs: 59_999 })

      for (const reply of [ahead, behind]) expect(reply).toMatchObject({ kind: 'refused', reason: 'clock' })
      expect(ahead.now).toBeGreaterThanOrEqual(now)
      expect((await at.asStored('a')).version).toBeUndefined()
      expect((await at.commit(writes, { now: now - 60_000, lagMs: 90_000 })).kind).toBe('applied')
      expect((await at.commit(writes, { now: now + 60_000 })).kind).toBe('applied')
    })
  })
})
