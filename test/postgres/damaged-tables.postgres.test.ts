/** Tables that were damaged by hand: damage is overwritten, repaired or reported, and does not block other work. */
import { describe, expect, test } from 'vitest'
import {
  PARTITION,
  call,
  claim,
  claimAll,
  creation,
  kindsOf,
  problemsOf,
  run,
  submit,
} from '../../src/stores/store.fixture.ts'
import type { Store } from '../../src/stores/store.ts'
import { failureOf, versions } from './places.ts'
import { newStore } from './store-place.ts'

/** Ways to damage the entry of an execution in an index. */
const damages = {
  lost: `delete from entry where id = $1 and name <> 'created'`,
  doubled: `insert into entry (partition, name, score, id) select partition, name, score + 5, id from entry where id = $1`,
  moved: `update entry set score = score - 9 where id = $1 and name <> 'created'`,
  'lost and named elsewhere': `update entry set name = 'lane' || chr(31) || 'main' || chr(31) || 'completed' where id = $1 and name <> 'created' and name <> 'due'`,
  'already where it goes': `insert into entry (partition, name, score, id)
    select partition, 'lane' || chr(31) || 'main' || chr(31) || 'completed', created_at, id from execution where id = $1`,
}

async function reconcile(store: Store): Promise<void> {
  let { cursor } = await run(store, 'reconcileIndexes', {})
  while (cursor !== undefined) cursor = (await run(store, 'reconcileIndexes', { cursor })).cursor
}

describe.each(versions)('an index on %s', (version) => {
  test.each(Object.entries(damages))(
    'in which an entry was %s is no obstacle to its execution, and is right after a walk through it',
    async (_, damage) => {
      const { store, query } = await newStore(version)
      const executionId = await submit(store)
      await submit(store)
      const executions = await claimAll(store)
      const held = executions.find((claimed) => claimed.executionId === executionId)!
      await query(damage, [executionId])
      expect(problemsOf(await store.dump(PARTITION))).not.toEqual([])

      const answers = await store.run(PARTITION, [
        call('renewLease', { ...held, leaseTtlMs: 60_000 }),
        call('completeExecution', held),
      ])

      expect(kindsOf(answers)).toEqual(['renewed', 'completed'])
      expect(await run(store, 'describeExecution', { executionId })).toMatchObject({ state: 'completed' })
      await reconcile(store)
      expect(problemsOf(await store.dump(PARTITION))).toEqual([])
    },
  )

  test('in which entries have been lost, doubled, moved and made up is right after two walks', async () => {
    const { store, query } = await newStore(version)
    const ids = [await submit(store), await submit(store), await submit(store)]
    await claimAll(store)
    await query(damages.doubled, [ids[0]])
    await query(damages.lost, [ids[1]])
    await query(`update entry set score = score - 9 where id = $1`, [ids[2]])
    await query(`insert into entry (partition, name, score, id) values (0, 'due', 1, 'ghost')`)

    await reconcile(store)
    await reconcile(store)

    expect(problemsOf(await store.dump(PARTITION))).toEqual([])
  })

  test('is repaired for others while a batch meets the damage', async () => {
    const { store, query } = await newStore(version)
    const executionId = await submit(store)
    const [held] = await claimAll(store)
    await query(damages['already where it goes'], [executionId])

    // The batch is refused as a whole and then run one by one.
    const answers = await store.run(PARTITION, [
      call('completeExecution', held!),
      call('describeExecution', { executionId }),
      call('claimForWorker', claim({ requestId: 'another' })),
    ])

    expect(kindsOf(answers)).toEqual(['completed', 'described', 'claimed'])
    expect(problemsOf(await store.dump(PARTITION))).toEqual([])
  })
})

describe.each(versions)('a record on %s', (version) => {
  test.each(['nonsense', '[]', '["0-1"]', '{}', ''])(
    'that reads %j does not block the others, and is named by calls that read it',
    async (record) => {
      const { store, query } = await newStore(version)
      const damaged = await submit(store, { priority: 10 })
      const healthy = await submit(store)
      await query('update execution set record = $1 where id = $2', [record, damaged])

      const { executions } = await run(store, 'claimForWorker', claim())
      const [asked] = await store.run(PARTITION, [call('describeExecution', { executionId: damaged })])

      expect(executions.map(({ executionId }) => executionId)).toEqual([healthy])
      expect(asked).toEqual({ kind: 'fault', reason: 'the record cannot be read', recordId: damaged })
    },
  )

  test('whose payload is gone is claimed without it', async () => {
    const { store, query } = await newStore(version)
    const payload = { blob: 0, size: 3, encoding: 'bytes' as const }
    await store.run(PARTITION, [call('createExecution', creation({ payload }), new Uint8Array(3))])
    await query('delete from blob')

    const [answer] = await store.run(PARTITION, [call('claimForWorker', claim())])

    expect(answer).toMatchObject({ result: { executions: [{ payload: { size: 3 } }] }, blobs: [] })
  })
})

test.each(versions)('a store whose schema is dropped on %s refuses everything, and can be closed', async (version) => {
  const { store, schema, query } = await newStore(version)
  const executionId = await submit(store)
  await query(`drop schema ${schema} cascade`)

  const refusals = await Promise.all(
    [
      submit(store),
      run(store, 'describeExecution', { executionId }),
      store.readEvents(PARTITION, 0, 10),
      store.trimEvents(PARTITION, 0, 10),
      store.dump(PARTITION),
    ].map(failureOf),
  )

  expect(refusals.map(({ code }) => code)).toEqual(refusals.map(() => 'store_not_found'))
  await store.close()
})
