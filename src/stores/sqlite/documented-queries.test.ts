/** The queries that the documentation offers run as they stand there, and find something where there is something. */
import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { PARTITION, call, claim, creation, run } from '../store.fixture.ts'
import { fileWorld } from './sqlite.fixture.ts'

const page = readFileSync(new URL('../../../docs/sqlite.md', import.meta.url), 'utf8')
const queries = [...page.matchAll(/^```sql\n(.*?)^```/gms)]
  .flatMap(([, block = '']) => block.replaceAll(/^--.*\n/gm, '').split(/;\s*$/m))
  .map((statement) => statement.trim())
  .filter((statement) => statement.startsWith('select'))

const bytes = new TextEncoder().encode('{"account":7}')
const found = new Map<string, readonly unknown[]>()

beforeAll(async () => {
  const world = fileWorld()
  const store = await world.open()
  const ids: string[] = []
  for (let i = 0; i < 3; i++) {
    const input = creation({ payload: { blob: 0, size: bytes.byteLength, encoding: 'json' } })
    await store.run(PARTITION, [call('createExecution', input, bytes)])
    ids.push(input.executionId)
  }
  const { executions } = await run(store, 'claimForWorker', claim({ count: 2 }))
  const failure = { category: 'network', message: 'no route', stack: undefined }
  await run(store, 'failExecution', { ...executions[0]!, failure, seed: 1 })
  const database = world.connect()
  for (const text of queries) found.set(text, database.prepare(text.replace('0-…', ids[0]!)).all())
  await world.close()
})

test('there are queries in the documentation', () => {
  expect(queries.length).toBeGreaterThanOrEqual(6)
})

test.each(queries.map((query) => ({ name: query.replaceAll(/\s+/g, ' ').slice(0, 60), query })))(
  '$name…',
  ({ query }) => {
    expect(found.get(query)?.length).toBeGreaterThan(0)
  },
)
