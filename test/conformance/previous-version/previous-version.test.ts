/** Stores that an earlier version wrote are migrated, read and used. */
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Execution } from '../../../src/kernel/index.ts'
import { systemRuntime, virtualRuntime } from '../../../src/runtime/index.ts'
import type { VirtualRuntime } from '../../../src/runtime/index.ts'
import { compareTables } from '../../../src/stores/open/compare-tables.ts'
import { parseLocation } from '../../../src/stores/open/location.ts'
import { migrateAs } from '../../../src/stores/open/migrate-store.ts'
import { openStore } from '../../../src/stores/open/open-store.ts'
import type { Partition, PartitionDump, Store } from '../../../src/stores/store.ts'
import { programLevels } from '../../../src/stores/level/store-level.ts'
import { newPlace, runAt, versions as postgresVersions } from '../../postgres/places.ts'
import { serverLocations } from '../../servers/server-locations.ts'
import { newPrefix } from '../../valkey/fabrics.ts'
import { call } from '../fabric.ts'
import { executionsOf } from '../execution-invariants.ts'
import { problemsOf } from '../invariants.ts'
import { INDEXED_TAGS, PARTITIONS, contentOf } from './history.ts'
import { restorePostgres } from './postgres-copy.ts'
import { restoreSqlite } from './sqlite-copy.ts'
import { restoreValkey } from './valkey-copy.ts'

const MINUTE_MS = 60_000
/** More than the members of a flow that end one after the other. */
const PASSES = 10

const RECORDED = path.join(import.meta.dirname, 'recorded')

interface Recorded {
  /** The time at which the history ended. */
  readonly now: number
  readonly partitions: readonly PartitionDump[]
}

interface Target {
  readonly name: string
  readonly file: string
  /** Puts the recorded content where a store is opened, and returns the location. */
  readonly restore: (content: string) => Promise<string>
}

const servers = serverLocations()
const valkeyServers = servers === undefined ? {} : { valkey: servers.valkey, redis: servers.redis }

const targets: readonly Target[] = [
  {
    name: 'sqlite',
    file: 'sqlite.sql',
    restore: async (content) => {
      const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-'))
      onTestFinished(() => rm(folder, { recursive: true }))
      const file = path.join(folder, 'fabric.db')
      restoreSqlite(file, content)
      return `sqlite:${file}`
    },
  },
  ...Object.entries(valkeyServers).map(([name, location]) => ({
    name,
    file: 'valkey.jsonl',
    restore: async (content: string) => {
      const client = new Redis(location.replace('valkey:', 'redis:'))
      onTestFinished(() => client.disconnect())
      const prefix = newPrefix()
      await restoreValkey(client, prefix, content)
      return `${location}?prefix=${prefix}`
    },
  })),
  ...(servers === undefined ? [] : postgresVersions).map((version) => ({
    name: version,
    file: 'postgres.sql',
    restore: async (content: string) => {
      const { schema, location } = newPlace(version)
      await runAt(location, restorePostgres(schema, content))
      return location
    },
  })),
]

async function open(location: string, runtime: VirtualRuntime): Promise<Store> {
  await migrateAs({ levels: programLevels, clock: 'runtime' }, location, { runtime })
  const store = await openStore(location, { runtime, indexedTags: INDEXED_TAGS, clock: 'runtime' })
  onTestFinished(() => store.close())
  return store
}

/** Cancels every execution, as often as the end of one lets another go on, and runs what is due. */
async function endAll(store: Store, runtime: VirtualRuntime, partition: Partition): Promise<void> {
  for (let pass = 0; pass < PASSES; pass++) {
    for (const { id: executionId } of executionsOf(await store.dump(partition)).filter(isLive)) {
      const cancel = { executionId, reason: 'the test is over', by: 'test', force: true, graceMs: 0 }
      await store.run(partition, [call('cancelExecution', cancel)])
    }
    runtime.jump(MINUTE_MS)
    await store.run(partition, [call('runDue', { limit: 100, seed: pass })])
  }
}

function isLive({ state }: Execution): boolean {
  return state.phase !== 'ended'
}

describe.each(await readdir(RECORDED))('a store of version %s', (version) => {
  async function recorded(file: string): Promise<string> {
    return await readFile(path.join(RECORDED, version, file), 'utf8')
  }

  test.each(targets)('holds on $name what was written, and is used as before', async ({ file, restore }) => {
    const { now, partitions } = JSON.parse(await recorded('content.json')) as Recorded
    const runtime = virtualRuntime()
    runtime.jump(now - runtime.now())

    const location = await restore(await recorded(file))
    const store = await open(location, runtime)

    const tables = await compareTables(parseLocation(location), { runtime: systemRuntime() })
    expect(['same', 'no_tables'], JSON.stringify(tables)).toContain(tables.kind)
    expect(await contentOf(store)).toEqual(partitions)
    for (const partition of PARTITIONS) {
      await endAll(store, runtime, partition)
      const dump = await store.dump(partition)
      expect(problemsOf(dump)).toEqual([])
      expect(executionsOf(dump).filter(isLive)).toEqual([])
    }
  })
})
