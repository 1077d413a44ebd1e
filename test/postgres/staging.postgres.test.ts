import { Pool } from 'pg'
import { describe, expect, test } from 'vitest'
import { partitionOf, task } from '../../src/client/index.ts'
import { PAYLOAD_BYTES } from '../../src/kernel/index.ts'
import type { ExecutionId } from '../../src/kernel/index.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { LIMIT_MS, StagingPlace, commit, echo, echoHandler } from './staging-place.ts'

const signal = () => AbortSignal.timeout(LIMIT_MS)

describe.each(['postgres', 'postgresNewest'] as const)('a submit inside a transaction, on %s', (version) => {
  test('does not exist before the commit, runs after it, and can be waited for before', async () => {
    const place = new StagingPlace(version)
    const fabric = await place.fabric()
    await fabric.work([echoHandler])
    const client = await place.client()
    await client.query('begin')

    const execution = await fabric.submit(echo, { order: 17 }, { tx: client })
    const waiting = execution.result({ signal: signal() })

    expect(execution.created).toBe('staged')
    await expect(execution.state()).rejects.toMatchObject({ code: 'execution_not_found' })
    await expect(fabric.submit(echo, 'another').then((other) => other.result())).resolves.toEqual({ input: 'another' })
    await expect(execution.describe()).rejects.toMatchObject({ code: 'execution_not_found' })
    await client.query('commit')
    expect(await waiting).toEqual({ input: { order: 17 } })
    expect(await execution.state()).toBe('completed')
    expect(await place.inbox()).toEqual([])
  })

  test('is gone with the rollback, together with what else the transaction wrote', async () => {
    const place = new StagingPlace(version)
    const fabric = await place.fabric()
    await fabric.work([echoHandler])
    const client = await place.client()
    await client.query(`create table ${place.schema}.orders (id integer)`)

    await client.query('begin')
    await client.query(`insert into ${place.schema}.orders values (1)`)
    const execution = await fabric.submit(echo, 'rolled back', { tx: client })
    const abort = new AbortController()
    const waiting = execution.result({ signal: abort.signal })
    await client.query('rollback')
    const later = await commit(client, () => fabric.submit(echo, 'committed', { tx: client }))

    expect(await later.result({ signal: signal() })).toEqual({ input: 'committed' })
    expect((await fabric.list()).items.map(({ id }) => id)).toEqual([later.id])
    expect(await place.inbox()).toEqual([])
    expect((await client.query(`select id from ${place.schema}.orders`)).rows).toEqual([])
    abort.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' })
  })

  test('is gone with the rollback to a savepoint, and what came before and after stays', async () => {
    const place = new StagingPlace(version)
    const fabric = await place.fabric()
    await fabric.work([echoHandler])
    const client = await place.client()

    const [before, within, after] = await commit(client, async () => {
      const first = await fabric.submit(echo, 'before', { tx: client })
      await client.query('savepoint here')
      const second = await fabric.submit(echo, 'within', { tx: client })
      await client.query('rollback to savepoint here')
      return [first, second, await fabric.submit(echo, 'after', { tx: client })]
    })

    expect(await before.result({ signal: signal() })).toEqual({ input: 'before' })
    expect(await after.result({ signal: signal() })).toEqual({ input: 'after' })
    await place.untilTaken()
    await expect(within.state()).rejects.toMatchObject({ code: 'execution_not_found' })
  })

  test('goes through a client from a pool and through anything with a query of its own, but not through a pool', async () => {
    const place = new StagingPlace(version)
    const fabric = await place.fabric()
    await fabric.work([echoHandler])
    await using pool = new DisposablePool(place.server)
    const client = await pool.inner.connect()
    const wrapper = { query: (text: string, values: unknown[]) => client.query(text, values) }

    await client.query('begin')
    const pooled = await fabric.submit(echo, 'pooled', { tx: client })
    const wrapped = await fabric.submit(echo, 'wrapped', { tx: wrapper })
    await client.query('commit')
    client.release()

    expect(await pooled.result({ signal: signal() })).toEqual({ input: 'pooled' })
    expect(await wrapped.result({ signal: signal() })).toEqual({ input: 'wrapped' })
    await expect(fabric.submit(echo, 'nowhere', { tx: pool.inner })).rejects.toMatchObject({
      code: 'invalid_input',
      detail: { field: 'tx' },
    })
  })

  test('with an id meets itself: in its transaction, in another one, and outside of any', async () => {
    const place = new StagingPlace(version)
    const fabric = await place.fabric()
    const inputs: unknown[] = []
    await fabric.work([
      echo.handle((input) => {
        inputs.push(input)
        return { input }
      }),
    ])
    const client = await place.client()
    const own = { id: 'order:17', ifExists: 'join' } as const

    const [first, second] = await commit(client, async () => [
      await fabric.submit(echo, 1, { ...own, tx: client }),
      await fabric.submit(echo, 2, { ...own, tx: client }),
    ])
    expect(await first.result({ signal: signal() })).toEqual({ input: 1 })
    const third = await commit(client, () => fabric.submit(echo, 3, { ...own, tx: client }))
    const fourth = await fabric.submit(echo, 4, own)

    expect(new Set([first.id, second.id, third.id, fourth.id]).size).toBe(1)
    expect(fourth.created).toBe('joined')
    expect(await third.result({ signal: signal() })).toEqual({ input: 1 })
    await place.untilTaken()
    expect(inputs).toEqual([1])
    expect(await place.inbox()).toEqual([])
  })

  test('with an id of another task is set aside, and its waiters are refused', async () => {
    const place = new StagingPlace(version)
    const fabric = await place.fabric()
    await fabric.work([echoHandler])
    const client = await place.client()
    await fabric.submit(task<number, number>('other'), 1, { id: 'taken', delay: '1h' })

    const execution = await commit(client, () => fabric.submit(echo, 2, { id: 'taken', tx: client }))

    await expect(execution.result({ signal: signal() })).rejects.toMatchObject({ code: 'execution_exists' })
    await place.untilTaken()
    expect(await place.inbox()).toEqual([
      { executionId: execution.id, failure: 'The submit was refused: execution_exists.' },
    ])
    expect(place.errors).toEqual([
      'staged submit set aside; fix its row in the inbox to retry it: The submit was refused: execution_exists.',
    ])
  })

  test('carries as much as any other, bytes as bytes, and nothing as nothing', async () => {
    const place = new StagingPlace(version)
    const fabric = await place.fabric()
    await fabric.work([echoHandler])
    const client = await place.client()
    const large = 'ß'.repeat(PAYLOAD_BYTES / 2 - 1)
    const bytes = Uint8Array.from({ length: PAYLOAD_BYTES }, (_, i) => i % 256)

    const executions = await commit(client, async () => [
      await fabric.submit(echo, large, { tx: client }),
      await fabric.submit(echo, bytes, { tx: client }),
      await fabric.submit(echo, undefined, { tx: client }),
    ])
    const [text, raw, nothing] = await Promise.all(
      executions.map(async (execution) => {
        await execution.wait({ signal: signal() })
        return (await execution.describe()).input
      }),
    )

    expect(text === large).toBe(true)
    expect(Buffer.compare(raw as Uint8Array, bytes)).toBe(0)
    expect(nothing).toBeUndefined()
  })

  test('has the settings that it was given', async () => {
    const place = new StagingPlace(version)
    const fabric = await place.fabric({ indexedTags: ['plan'] })
    const client = await place.client()
    const options = {
      lane: 'slow',
      priority: 7,
      delay: '1h',
      tags: { plan: 'pro', 'customer.name': 'Zoë "Ada" \\ ☃' },
      retry: { attempts: 3, backoff: { kind: 'fixed', delay: '2s' } },
      timeout: { attempt: '10s', total: '1d' },
      retention: '2d',
    } as const

    const plain = await fabric.submit(echo, 1, options)
    const staged = await commit(client, () => fabric.submit(echo, 1, { ...options, tx: client }))
    await fabric.work([echoHandler])
    await place.untilTaken()

    expect(await settingsOf(fabric, staged.id)).toEqual(await settingsOf(fabric, plain.id))
    expect(await staged.describe()).toMatchObject({ state: 'delayed', input: 1, tags: options.tags })
    const tagged = await fabric.list({ tag: { name: 'plan', value: 'pro' } })
    expect(tagged.items.map(({ id }) => id).sort()).toEqual([plain.id, staged.id].sort())
  })

  test('is one of many that are submitted together', async () => {
    const place = new StagingPlace(version)
    const fabric = await place.fabric()
    await fabric.work([echoHandler])
    const client = await place.client()
    const items = Array.from({ length: 20 }, (_, input) => ({ input, options: { tx: client } }))

    const outcomes = await commit(client, () => fabric.submitMany(echo, items))
    const executions = outcomes.map((outcome) => (outcome.ok ? outcome.execution : expect.fail(outcome.error.message)))
    const results = await Promise.all(executions.map((execution) => execution.result({ signal: signal() })))

    expect(results).toEqual(items.map(({ input }) => ({ input })))
  })
})

/** Everything that is kept of an execution, except what makes it that one. */
async function settingsOf(fabric: Fabric, id: ExecutionId): Promise<object> {
  const { records } = await fabric.store.dump(partitionOf(id))
  const record = records.find((other) => other.id === id)
  if (record?.type !== 'execution') throw new Error(`There is no execution ${id}.`)
  const { id: _, createdAt, changedAt, deadlineAt = 0, state, ...settings } = record
  return { ...settings, phase: state.phase, lifeMs: deadlineAt - createdAt, isChanged: changedAt !== createdAt }
}

class DisposablePool implements AsyncDisposable {
  readonly inner: Pool

  constructor(connectionString: string) {
    this.inner = new Pool({ connectionString })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.inner.end()
  }
}
