/** Callers' transactions that must not disturb others, and damage or failures of an inbox. */
import { randomUUID } from 'node:crypto'
import { Client, DatabaseError } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { ExecutionHandle } from '../../src/client/index.ts'
import { virtualRuntime } from '../../src/runtime/index.ts'
import { INBOX_TAKE_MAX } from '../../src/stores/postgres/staging/inbox.ts'
import { until } from '../servers/until.ts'
import { LIMIT_MS, StagingPlace, commit, echo, echoHandler } from './staging-place.ts'

const signal = () => AbortSignal.timeout(LIMIT_MS)

function resultsOf(executions: readonly ExecutionHandle[]): Promise<unknown[]> {
  return Promise.all(executions.map((execution) => execution.result({ signal: signal() })))
}

test('a transaction that stays open blocks no other, whatever partitions it has staged in', async () => {
  const place = new StagingPlace('postgres')
  const fabric = await place.fabric()
  await fabric.work([echoHandler], { concurrency: 32 })
  const client = await place.client()
  const { executionPartitions } = fabric.store.settings

  await client.query('begin')
  const staged = []
  for (let i = 0; i < 2 * executionPartitions; i++) staged.push(await fabric.submit(echo, i, { tx: client }))
  const others = await fabric.submitMany(
    echo,
    Array.from({ length: 400 }, (_, input) => ({ input })),
  )
  const handles = others.map((outcome) => (outcome.ok ? outcome.execution : expect.fail(outcome.error.message)))

  expect(new Set(staged.map(({ id }) => id.split('-')[0])).size).toBe(executionPartitions)
  expect(await resultsOf(handles)).toHaveLength(400)
  for (const execution of staged) {
    await expect(execution.state()).rejects.toMatchObject({ code: 'execution_not_found' })
  }
  await client.query('commit')
  expect(await resultsOf(staged)).toEqual(staged.map((_, input) => ({ input })))
})

test('a worker is notified of a commit in another process while no timer of its own ever fires', async () => {
  const place = new StagingPlace('postgres')
  const timeless = await place.fabric({ runtime: virtualRuntime() })
  await timeless.work([echoHandler], { engine: false })
  const listening = await place.client()
  await until('the worker listens', LIMIT_MS, async () => {
    const { rows } = await listening.query<object>(
      `select from pg_stat_activity where query like 'listen "%${place.schema}"'`,
    )
    return rows[0]
  })
  const fabric = await place.fabric()
  const client = await place.client()

  for (let i = 0; i < 3; i++) {
    const execution = await commit(client, () => fabric.submit(echo, i, { tx: client }))
    expect(await execution.result({ signal: signal() })).toEqual({ input: i })
  }
})

test('more than one batch takes from an inbox is taken to the last one', async () => {
  const place = new StagingPlace('postgres', '&partitions=1')
  const fabric = await place.fabric()
  await fabric.work([echoHandler])
  const client = await place.client()
  const items = Array.from({ length: 2 * INBOX_TAKE_MAX + 20 }, (_, input) => ({ input, options: { tx: client } }))

  const outcomes = await commit(client, () => fabric.submitMany(echo, items))

  const handles = outcomes.map((outcome) => (outcome.ok ? outcome.execution : expect.fail(outcome.error.message)))
  expect(await resultsOf(handles)).toEqual(items.map(({ input }) => ({ input })))
  expect(await place.inbox()).toEqual([])
})

test('a submit that cannot become an execution is set aside with the reason, and later ones run', async () => {
  const place = new StagingPlace('postgres', '&partitions=1')
  const fabric = await place.fabric()
  const client = await place.client()
  const garbage = ['not json', 'null', '{}', '17', '{"executionId":"0-0190a7a0-1111-7222-8333-444455556666"}']

  const executions = await commit(client, async () => {
    const staged = [await fabric.submit(echo, 'first', { tx: client })]
    for (const call of garbage) {
      await client.query(`insert into ${place.schema}.inbox (partition, execution_id, call) values (0, '0-x', $1)`, [
        call,
      ])
      staged.push(await fabric.submit(echo, call, { tx: client }))
    }
    return staged
  })
  await fabric.work([echoHandler])

  expect(await resultsOf(executions)).toEqual(['first', ...garbage].map((input) => ({ input })))
  await place.untilTaken()
  const rows = await place.inbox()
  expect(rows.map(({ executionId }) => executionId)).toEqual(garbage.map(() => '0-x'))
  expect(rows.every(({ failure }) => failure !== null && failure !== '')).toBe(true)
  expect(place.errors).toHaveLength(garbage.length)
  expect(await fabric.submit(echo, 'later').then((later) => later.result())).toEqual({ input: 'later' })
})

test.each(['repeatable read', 'serializable'])('callers in %s stage in parallel with all others', async (level) => {
  const place = new StagingPlace('postgres')
  const fabric = await place.fabric()
  await fabric.work([echoHandler])
  const clients = await Promise.all(Array.from({ length: 4 }, () => place.client()))

  const staged = await Promise.all(
    clients.map((client, caller) =>
      commit(
        client,
        async () => {
          // From here on it sees the state of this moment, and reads what others change.
          const own = `${place.schema}.orders_${caller}`
          await client.query(`create table ${own} (id integer primary key)`)
          await client.query(`select count(*) from ${place.schema}.execution`)
          await (await fabric.submit(echo, 'meanwhile')).result({ signal: signal() })
          await client.query(`insert into ${own} values ($1)`, [caller])
          return [
            await fabric.submit(echo, caller, { tx: client }),
            await fabric.submit(echo, caller, { tx: client, id: `order:${caller}` }),
          ]
        },
        `begin isolation level ${level}`,
      ),
    ),
  )

  expect(await resultsOf(staged.flat())).toEqual([0, 0, 1, 1, 2, 2, 3, 3].map((input) => ({ input })))
})

test('submits that were committed while no process ran are taken by the next process', async () => {
  const place = new StagingPlace('postgres')
  const gone = await place.fabric()
  await gone.work([echoHandler])
  const client = await place.client()
  await client.query('begin')
  const { id } = await gone.submit(echo, 'left behind', { tx: client })
  await gone.close()
  await client.query('commit')

  expect(await place.inbox()).toEqual([{ executionId: id, failure: null }])
  const fabric = await place.fabric()
  await fabric.work([echoHandler])

  await place.untilTaken()
  expect(await fabric.execution(id, echo).result({ signal: signal() })).toEqual({ input: 'left behind' })
})

test('what failed in a transaction is thrown as the client threw it', async () => {
  const place = new StagingPlace('postgres')
  const fabric = await place.fabric()
  const client = await place.client()
  await client.query('begin')
  await expect(client.query('select 1 / 0')).rejects.toBeInstanceOf(DatabaseError)

  const refused = fabric.submit(echo, 1, { tx: client })

  await expect(refused).rejects.toBeInstanceOf(DatabaseError)
  await expect(refused).rejects.toMatchObject({ code: '25P02' })
})

test('a transaction in another database than the store is refused with the reason', async () => {
  const place = new StagingPlace('postgres')
  const fabric = await place.fabric()
  const other = await newDatabase(place)
  const client = await place.client(other)
  await client.query('begin')

  const refused = fabric.submit(echo, 1, { tx: client })

  await expect(refused).rejects.toThrow(`without the table "${place.schema}".inbox`)
  await expect(refused).rejects.toMatchObject({ code: 'invalid_input', detail: { field: 'tx' } })
})

test('who stages needs to see and to fill the inbox, and nothing else of the store', async () => {
  const place = new StagingPlace('postgres')
  const fabric = await place.fabric()
  await fabric.work([echoHandler])
  const { name, location } = await newUser(place)
  const client = await place.client(location)

  await client.query('begin')
  await expect(fabric.submit(echo, 1, { tx: client })).rejects.toMatchObject({ code: '42501' })
  await client.query('rollback')
  await runAsOwner(place, `grant usage on schema ${place.schema} to ${name}`)
  await runAsOwner(place, `grant insert on ${place.schema}.inbox to ${name}`)
  const execution = await commit(client, () => fabric.submit(echo, 2, { tx: client }))

  expect(await execution.result({ signal: signal() })).toEqual({ input: 2 })
})

async function runAsOwner(place: StagingPlace, text: string): Promise<void> {
  const client = new Client({ connectionString: place.server })
  await client.connect()
  await client.query(text)
  await client.end()
}

/** A user who may connect, and the location with that user. The user goes with the test. */
async function newUser(place: StagingPlace): Promise<{ readonly name: string; readonly location: string }> {
  const name = `shop_${randomUUID().replaceAll('-', '_')}`
  const location = new URL(place.server)
  location.username = name
  await runAsOwner(place, `create role ${name} login password '${location.password}'`)
  onTestFinished(() => runAsOwner(place, `drop owned by ${name}; drop role ${name}`))
  return { name, location: location.href }
}

/** The location of a database that goes with the test. */
async function newDatabase(place: StagingPlace): Promise<string> {
  const name = `other_${randomUUID().replaceAll('-', '_')}`
  await runAsOwner(place, `create database ${name}`)
  onTestFinished(() => runAsOwner(place, `drop database ${name} with (force)`))
  const location = new URL(place.server)
  location.pathname = name
  return location.href
}
