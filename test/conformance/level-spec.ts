/** How the level of a store is raised while programs of several versions use the store. */
import { hostname } from 'node:os'
import { describe, expect, onTestFinished, test } from 'vitest'
import { virtualRuntime } from '../../src/runtime/index.ts'
import type { VirtualRuntime } from '../../src/runtime/index.ts'
import { ANNOUNCE_EVERY_MS, LAPSES_AFTER_MS } from '../../src/stores/level/level-place.ts'
import type { LevelMigration } from '../../src/stores/level/raise-level.ts'
import type { Levels } from '../../src/stores/level/store-level.ts'
import { migrateAs } from '../../src/stores/open/migrate-store.ts'
import { openStore } from '../../src/stores/open/open-store.ts'
import { PARTITION, run, submit } from '../../src/stores/store.fixture.ts'
import { Batcher } from '../../src/stores/batcher.ts'
import { STORE_PARTITION } from '../../src/stores/partitions.ts'
import type { Store } from '../../src/stores/store.ts'
import { until } from '../servers/until.ts'
import { LogLines } from '../valkey/fabrics.ts'

/** What a program of the previous version, of this one and of the next one can run. */
const OLD: Levels = { min: 1, max: 1 }
const NEW: Levels = { min: 1, max: 2 }
const NEWER: Levels = { min: 1, max: 3 }

/** The longest that a test waits for anything. */
const LIMIT_MS = 30_000

const LEVEL_REFUSAL = {
  code: 'newer_schema',
  message: expect.stringMatching(
    /has level 2, .* up to level 1\. Nothing was written\. Stop this process and start it with a version that runs level 2\./,
  ) as string,
}

interface Program {
  readonly store: Store
  readonly runtime: VirtualRuntime
  readonly log: LogLines
}

/** Opens the store as a program whose time stands still until the test moves it. */
async function start(location: string, levels: Levels): Promise<Program> {
  const runtime = virtualRuntime()
  const log = new LogLines()
  const store = await openStore(location, { runtime, clock: 'runtime', levels, log })
  onTestFinished(() => store.close())
  return { store, runtime, log }
}

interface MigrateWish {
  /** How long after the start of the test. */
  readonly afterMs?: number
  readonly dryRun?: boolean
}

async function migrate(
  location: string,
  levels: Levels,
  { afterMs = 0, dryRun = false }: MigrateWish = {},
): Promise<LevelMigration | undefined> {
  const runtime = virtualRuntime()
  runtime.jump(afterMs)
  return (await migrateAs({ levels, clock: 'runtime' }, location, { runtime, dryRun })).level
}

const LAPSED = { afterMs: LAPSES_AFTER_MS + 1 }

async function eventCount(store: Store): Promise<number> {
  return (await store.readEvents(PARTITION, 0, 1)).lastSequence
}

export function levelConforms(
  targets: readonly { readonly name: string; readonly newLocation: () => string | Promise<string> }[],
): void {
  describe.each(targets)('the level of a store on $name', ({ newLocation }) => {
    /** A store that was set up by an old program, which has ended. */
    async function oldStore(): Promise<string> {
      const location = await newLocation()
      const { store } = await start(location, OLD)
      await submit(store)
      await store.close()
      return location
    }

    test('is not raised while a live process cannot run the next one, and names the process', async () => {
      const location = await oldStore()
      await start(location, NEW)
      const old = await start(location, OLD)

      const found = await migrate(location, NEW)

      const version = expect.stringMatching(/^\d+\.\d+\.\d+/) as string
      const holder = { host: hostname(), pid: process.pid, version, levelMin: 1, levelMax: 1 }
      expect(found).toEqual({
        kind: 'held_back',
        from: 1,
        to: 2,
        heldBackBy: [{ processId: expect.any(String) as string, ...holder }],
      })
      await submit(old.store)
    })

    test('is raised once the process that held it back has ended', async () => {
      const location = await oldStore()
      const held = await start(location, OLD)
      const other = await start(location, NEW)
      expect(await migrate(location, NEW)).toMatchObject({ kind: 'held_back' })
      await held.store.close()

      expect(await migrate(location, NEW, { dryRun: true })).toMatchObject({ kind: 'pending', from: 1, to: 2 })
      expect(await migrate(location, NEW)).toEqual({ kind: 'raised', from: 1, to: 2, heldBackBy: [] })
      expect(await migrate(location, NEW)).toEqual({ kind: 'up_to_date', from: 2, to: 2, heldBackBy: [] })
      await submit(other.store)
      await expect(start(location, OLD)).rejects.toMatchObject({ code: 'newer_schema' })
      await expect(migrate(location, OLD)).rejects.toMatchObject({ code: 'newer_schema' })
    })

    test('is raised once the announcement of a silent process has lapsed, which is refused at its next commit', async () => {
      const location = await oldStore()
      const old = await start(location, OLD)
      const other = await start(location, NEW)
      await submit(old.store)

      expect(await migrate(location, NEW, { afterMs: LAPSES_AFTER_MS })).toMatchObject({ kind: 'held_back' })
      expect(await migrate(location, NEW, LAPSED)).toMatchObject({ kind: 'raised', to: 2 })

      const before = await other.store.dump(PARTITION)
      await expect(submit(old.store)).rejects.toMatchObject(LEVEL_REFUSAL)
      expect(await other.store.dump(PARTITION)).toEqual(before)
      const reading = run(old.store, 'inspectPartition', { limit: 10 })
      await expect(reading).rejects.toMatchObject(LEVEL_REFUSAL)
      await expect(old.store.readEvents(PARTITION, 0, 1)).rejects.toMatchObject(LEVEL_REFUSAL)
    })

    test('is raised by one step at a time', async () => {
      const location = await oldStore()
      const other = await start(location, NEW)

      expect(await migrate(location, NEWER)).toMatchObject({ kind: 'raised', from: 1, to: 2 })
      expect(await migrate(location, NEWER)).toMatchObject({ kind: 'held_back', from: 2, to: 3 })
      await other.store.close()
      expect(await migrate(location, NEWER)).toMatchObject({ kind: 'raised', from: 2, to: 3 })
      expect(await migrate(location, NEWER)).toMatchObject({ kind: 'up_to_date', to: 3 })
    })

    test('is met by an idle process at its next announcement', async () => {
      const location = await oldStore()
      const old = await start(location, OLD)
      await migrate(location, NEW, LAPSED)

      await old.runtime.advance(ANNOUNCE_EVERY_MS)

      await until('the process has noticed', LIMIT_MS, async () => old.log.at('error')[0])
      expect(old.log.at('error')).toEqual([expect.stringContaining('restart it with a newer version')])
      const reading = run(old.store, 'inspectPartition', { limit: 10 })
      await expect(reading).rejects.toMatchObject(LEVEL_REFUSAL)
    })

    test('is held back by a process for as long as it renews its announcement', async () => {
      const location = await oldStore()
      const old = await start(location, OLD)
      const stepMs = ANNOUNCE_EVERY_MS / 2

      for (let afterMs = stepMs; afterMs <= 2 * LAPSES_AFTER_MS; afterMs += stepMs) {
        await old.runtime.advance(stepMs)
        const found = await migrate(location, NEW, { afterMs, dryRun: true })
        expect(found?.heldBackBy).toHaveLength(1)
      }
    })

    test('allows limits, lanes and workers once it is the second one', async () => {
      const location = await oldStore()
      const { store, runtime } = await start(location, NEW)
      const batcher = new Batcher(store, runtime)
      const inspect = () => batcher.run(STORE_PARTITION, 'inspectPartition', { limit: 10 })

      const refusal = { code: 'level_too_low', message: expect.stringContaining('level 2') as string }
      await expect(inspect()).rejects.toMatchObject(refusal)
      await migrate(location, NEW)
      await runtime.advance(ANNOUNCE_EVERY_MS)

      await until('the process has noticed', LIMIT_MS, async () => (store.level === 2 ? true : undefined))
      expect((await inspect()).result).toMatchObject({ kind: 'inspected', executions: 0 })
    })

    test('that was raised does not change the numbers of events, also of those that are trimmed later', async () => {
      const location = await oldStore()
      const { store } = await start(location, NEW)
      for (let i = 0; i < 3; i++) await submit(store)
      await store.trimEvents(PARTITION, 0, 2)
      const last = await eventCount(store)

      await migrate(location, NEW)
      await submit(store)
      await store.trimEvents(PARTITION, 0, 2)

      const page = await store.readEvents(PARTITION, 0, 10)
      expect([page.firstSequence, page.lastSequence]).toEqual([last, last + 1])
      expect(page.events.map(({ sequence }) => sequence)).toEqual([last, last + 1])
    })

    test('that was raised is never passed by a commit of a process that is busy meanwhile', async () => {
      const location = await oldStore()
      const old = await start(location, OLD)
      const { store } = await start(location, NEW)
      let isRaised = false
      const writing = (async () => {
        for (;;) {
          const isLate = isRaised
          const outcome = await submit(old.store).then(
            () => 'written' as const,
            (error: unknown) => error,
          )
          if (outcome !== 'written') return outcome
          expect(isLate).toBe(false)
        }
      })()

      await migrate(location, NEW, LAPSED)
      const count = await eventCount(store)
      isRaised = true

      expect(await writing).toMatchObject(LEVEL_REFUSAL)
      expect(await eventCount(store)).toBe(count)
    })
  })
}
