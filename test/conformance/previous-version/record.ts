/**
 * Records what the stores of this version hold after the fixed history, for the tests of later versions:
 *
 *   npm run record-stores -- <name of the version>
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Redis } from 'ioredis'
import { virtualRuntime } from '../../../src/runtime/index.ts'
import { openStore } from '../../../src/stores/open/open-store.ts'
import { startSharedServers } from '../../servers/shared-servers.ts'
import { INDEXED_TAGS, chooseHistory, contentOf, writeHistory } from './history.ts'
import { copyPostgres } from './postgres-copy.ts'
import { copySqlite } from './sqlite-copy.ts'
import { copyValkey } from './valkey-copy.ts'

const [version] = process.argv.slice(2)
if (version === undefined) throw new Error('Name the version: npm run record-stores -- 0.1')

const history = await chooseHistory()

/** Returns the content that the stores compare by. */
async function write(location: string): Promise<string> {
  const runtime = virtualRuntime()
  const store = await openStore(location, { runtime, indexedTags: INDEXED_TAGS, clock: 'runtime' })
  try {
    await writeHistory(store, runtime, history)
    return `${JSON.stringify({ now: runtime.now(), partitions: await contentOf(store) })}\n`
  } finally {
    await store.close()
  }
}

const folder = path.join(import.meta.dirname, 'recorded', version)
await mkdir(folder, { recursive: true })
const scratch = await mkdtemp(path.join(tmpdir(), 'flowfabric-record-'))
const { locations, stop } = await startSharedServers()
try {
  const file = path.join(scratch, 'fabric.db')
  const contents = [
    await write(`sqlite:${file}`),
    await write(`${locations.valkey}?prefix=recorded`),
    await write(`${locations.postgres}?schema=recorded`),
  ]
  if (new Set(contents).size !== 1) throw new Error('The stores do not hold the same.')
  const client = new Redis(locations.valkey.replace('valkey:', 'redis:'))
  await writeFile(path.join(folder, 'content.json'), contents[0]!)
  await writeFile(path.join(folder, 'sqlite.sql'), copySqlite(file))
  await writeFile(path.join(folder, 'valkey.jsonl'), await copyValkey(client, 'recorded'))
  await writeFile(path.join(folder, 'postgres.sql'), await copyPostgres(locations.postgres, 'recorded'))
  client.disconnect()
} finally {
  await stop()
  await rm(scratch, { recursive: true })
}
