/** The queries that the documentation offers: each runs as it stands there, and finds something where there is something. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { PARTITION, call, claim, creation, run, submit } from '../../src/stores/store.fixture.ts'
import type { Store } from '../../src/stores/store.ts'
import { versions } from './places.ts'
import { newStore } from './store-place.ts'

const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/postgres.md'), 'utf8')

/** The statements between the fences that only look. */
const queries = [...page.matchAll(/^```sql\n(.*?)^```/gms)]
  .flatMap(([, block = '']) => block.replaceAll(/^--.*\n/gm, '').split(/;\s*$/m))
  .map((statement) => statement.trim())
  .filter((statement) => statement.startsWith('select'))

/** Executions in every state that a query may ask for. */
async function fill(store: Store): Promise<void> {
  const wishes = [{}, {}, { retry: { ...RETRY, attempts: 2 } }, { delayMs: 60_000 }, {}, {}]
  for (const wish of wishes) await submit(store, wish)
  const bytes = new TextEncoder().encode('{"account":7}')
  const input = creation({ payload: { blob: 0, size: bytes.byteLength, encoding: 'json' } })
  await store.run(PARTITION, [call('createExecution', input, bytes)])
  const { executions } = await run(store, 'claimForWorker', claim({ count: 4 }))
  const failure = { category: 'network', message: 'no route', stack: undefined }
  await run(store, 'completeExecution', executions[0]!)
  await run(store, 'failExecution', { ...executions[1]!, failure, seed: 1 })
  await run(store, 'failExecution', { ...executions[2]!, failure, seed: 1 })
}

const RETRY = { attempts: 1, backoff: { kind: 'fixed' as const, delayMs: 1 }, jitter: false, onlyCategories: [] }

test('there are queries in the documentation', () => {
  expect(queries.length).toBeGreaterThanOrEqual(6)
})

describe.each(versions)('on %s, what the documentation asks is answered', (version) => {
  test.each(queries.map((query) => ({ name: query.replaceAll(/\s+/g, ' ').slice(0, 60), query })))(
    '$name…',
    async ({ query: text }) => {
      const { store, schema, query } = await newStore(version)
      await fill(store)
      await query(
        `insert into inbox (partition, execution_id, call, failure) values (0, '0-1', 'nonsense', 'unreadable')`,
      )

      const rows = await query(text.replaceAll('flowfabric.', `${schema}.`))

      expect(rows.length).toBeGreaterThan(0)
    },
  )
})
