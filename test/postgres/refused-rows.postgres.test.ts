/** Operations whose rows the tables refuse: each fails alone, whatever else is in its batch or transaction. */
import { describe, expect, test } from 'vitest'
import { PARTITION, call, claim, creation, kindsOf, problemsOf, run, submit } from '../../src/stores/store.fixture.ts'
import { executionPartition } from '../../src/stores/store.ts'
import { versions } from './places.ts'
import { ONE_TRANSACTION, createIn, newStore, runInEach } from './store-place.ts'
import type { StorePlace } from './store-place.ts'

/** Keeps rows away from a table. */
async function refuse({ schema, query }: StorePlace, table: string, condition: string): Promise<void> {
  await query(`create function ${schema}.refuse() returns trigger language plpgsql as $$
    begin
      raise exception 'bad is refused' using errcode = 'check_violation', constraint = 'nothing_bad', table = '${table}';
    end $$`)
  await query(`create trigger refuse before insert or update on ${table}
    for each row when (${condition}) execute function ${schema}.refuse()`)
}

describe.each(versions)('an operation whose rows are refused on %s', (version) => {
  test('fails alone in its batch', async () => {
    const place = await newStore(version)
    const { store } = place
    await refuse(place, 'execution', `new.key = 'bad'`)
    const bad = creation({ key: 'bad' })

    const answers = await store.run(PARTITION, [
      createIn(0),
      call('createExecution', bad),
      createIn(0),
      call('claimForWorker', claim()),
    ])

    expect(kindsOf(answers)).toEqual(['created', 'fault', 'created', 'claimed'])
    expect(answers[1]).toEqual({
      kind: 'fault',
      reason: 'createExecution failed: The database refused a row (23514): constraint nothing_bad, table execution',
      recordId: bad.executionId,
    })
    const dump = await store.dump(PARTITION)
    expect(dump.records.map(({ id }) => id)).not.toContain(bad.executionId)
    expect(dump.events).toHaveLength(4)
    expect(problemsOf(dump)).toEqual([])
  })

  test('fails as well when it is sent alone, and the store keeps working', async () => {
    const place = await newStore(version)
    const { store, query } = place
    await refuse(place, 'event_batch', 'true')

    expect(kindsOf(await store.run(PARTITION, [createIn(0)]))).toEqual(['fault'])
    await query('drop trigger refuse on event_batch')
    await submit(store)
    expect((await store.dump(PARTITION)).events).toMatchObject([{ sequence: 1 }])
  })

  test('fails alone in a transaction of several partitions', async () => {
    const place = await newStore(version, 'partitions=4', ONE_TRANSACTION)
    const { store } = place
    await refuse(place, 'execution', `new.key = 'bad'`)
    const wishes = [{}, { key: 'bad' }, {}, { key: 'bad' }]

    const answers = await runInEach(
      store,
      wishes.map((wish, number) => [createIn(number), createIn(number, wish), createIn(number)]),
    )

    expect(answers.map(kindsOf)).toEqual(
      wishes.map(({ key }) => ['created', key === undefined ? 'created' : 'fault', 'created']),
    )
    for (const number of wishes.keys()) {
      const dump = await store.dump(executionPartition(number))
      expect(dump.events).toHaveLength(wishes[number]?.key === undefined ? 3 : 2)
      expect(problemsOf(dump)).toEqual([])
    }
  })

  test('leaves nothing of a later step of a life either', async () => {
    const place = await newStore(version)
    const { store, query } = place
    const executionId = await submit(store)
    const { executions } = await run(store, 'claimForWorker', claim())
    await refuse(place, 'execution', `new.state = 'completed'`)
    const before = await store.dump(PARTITION)
    const result = { blob: 0, size: 2, encoding: 'bytes' as const }
    const complete = call('completeExecution', { ...executions[0]!, result }, new Uint8Array(2))

    expect(kindsOf(await store.run(PARTITION, [complete]))).toEqual(['fault'])
    expect(await store.dump(PARTITION)).toEqual(before)
    await query('drop trigger refuse on execution')
    expect(kindsOf(await store.run(PARTITION, [complete]))).toEqual(['completed'])
    expect(await run(store, 'describeExecution', { executionId })).toMatchObject({ state: 'completed' })
  })

  test('is reported without the values', async () => {
    const { store, query } = await newStore(version)
    await query(`alter table execution add constraint short check (length(key) < 20)`)

    const [answer] = await store.run(PARTITION, [createIn(0, { key: 'a secret that is too long to be kept' })])

    const told = JSON.stringify(answer)
    expect(told).toContain('constraint short')
    expect(told).not.toContain('secret')
  })
})
