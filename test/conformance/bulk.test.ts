/** Many executions are counted, grouped and changed by a filter. */
import { expect, test } from 'vitest'
import { PermanentError, flow, task } from '../../src/client/index.ts'
import { Bulk } from '../../src/fabric/bulk.ts'
import type { BulkFilter } from '../../src/fabric/bulk.ts'
import { bulkHandler } from '../../src/fabric/bulk-task.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

const LEASE_TTL_MS = 1_000

const work = task<number, string>('work')
const other = task<number, string>('other')

conforms('a bulk change', ({ fabric }) => {
  const bulkOf = (working: Working, filter: BulkFilter) => new Bulk(working.client, filter, () => undefined)
  const serve = (working: Working) =>
    working.work([bulkHandler(working.client)], { prefetch: 0, leaseTtl: LEASE_TTL_MS })

  /** Submits so many of a task, and returns their handles. */
  const submit = (working: Working, definition: typeof work, count: number) =>
    working.until(
      Promise.all(
        Array.from({ length: count }, (_, i) =>
          working.client.submit(definition, i, { tags: i % 2 === 0 ? { plan: 'pro' } : {} }),
        ),
      ),
    )

  test('is counted first, and changes what its filter finds and nothing else', async () => {
    await using working = new Working(fabric)
    const { client } = working
    const chosen = await submit(working, work, 30)
    await submit(working, other, 3)
    const bulk = bulkOf(working, { task: 'work', state: 'waiting' })

    const preview = await bulk.preview()
    expect([preview.count, preview.isMore, preview.examples.length]).toEqual([30, false, 10])
    serve(working)
    const tagged = await bulk.setTags({ incident: '42' }, { perSecond: 10_000 })
    expect(await working.until(tagged.result())).toEqual({ examined: 30, changed: 30, refused: {}, isCut: false })
    const pro = bulkOf(working, {
      tag: [
        { name: 'incident', value: '42' },
        { name: 'plan', value: 'pro' },
      ],
    })
    await working.until((await pro.changePriority(7)).result())
    await working.until((await bulk.cancel('outdated')).result())

    const ends = await Promise.all(chosen.map((one) => one.describe()))
    expect(ends.map(({ state }) => state)).toEqual(chosen.map(() => 'cancelled'))
    expect(ends.map(({ priority }) => priority)).toEqual(chosen.map((_, i) => (i % 2 === 0 ? 7 : 0)))
    expect((await client.list({ state: 'waiting' })).items).toHaveLength(3)
    expect((await bulk.preview()).count).toBe(0)
  })

  test('continues after a crash, replays the failures of one cause once, and keeps to its rate', async () => {
    await using working = new Working(fabric)
    const { client } = working
    let isDown = true
    const handler = work.handle((number) => {
      if (isDown) throw new PermanentError(number % 3 === 0 ? `no row ${number}` : `timeout after ${number} ms`)
      return 'done'
    })
    const failing = working.work([handler])
    const executions = await submit(working, work, 30)
    await working.until(Promise.allSettled(executions.map((one) => one.result())))
    isDown = false

    const { groups, isCut } = await client.failures({ task: 'work' })
    expect(groups.map(({ message, count }) => [message, count])).toEqual([
      ['timeout after # ms', 20],
      ['no row #', 10],
    ])
    expect(isCut).toBe(false)
    const replay = await bulkOf(working, { state: 'failed', message: groups[0]!.message }).replay({
      id: 'repair:1',
      perSecond: 5,
    })
    const first = serve(working)
    for (let tick = 0; tick < 500 && (await replay.describe()).journal.stepCount !== 2; tick++) await working.elapse(5)
    first.crash()
    await working.elapse(LEASE_TTL_MS + 500)
    serve(working)
    working.maintain()
    expect(await working.until(replay.result())).toMatchObject({ examined: 30, changed: 20 })

    await working.until(Promise.allSettled(executions.map((one) => one.result())))
    const ends = await Promise.all(executions.map((one) => one.describe()))
    expect(ends.map(({ state, replayCount }) => [state, replayCount])).toEqual(
      executions.map((_, i) => (i % 3 === 0 ? ['failed', 0] : ['completed', 1])),
    )
    await working.until(failing.close())
  })

  test('counts refusals by their code, and refuses a filter that finds everything', async () => {
    await using working = new Working(fabric)
    await submit(working, work, 2)
    serve(working)
    const bulk = bulkOf(working, { task: ['work'] })

    const replayed = await working.until((await bulk.replay()).result())
    expect(replayed).toMatchObject({ examined: 0, changed: 0 })
    await working.until((await bulk.cancel('outdated')).result())
    expect(await working.until((await bulk.changePriority(3)).result())).toMatchObject({
      changed: 0,
      refused: { execution_ended: 2 },
    })
    expect(() => bulkOf(working, {})).toThrow('must name at least one attribute')
    expect(() => bulkOf(working, { colour: 'red' } as never)).toThrow('unknown key "colour"')
  })

  test('refuses a wrong filter before it starts, and fails at once if its flow does not exist', async () => {
    await using working = new Working(fabric)
    const { client } = working
    for (const wrong of [{ state: 'done' }, { tag: { plan: 'pro' } }, { createdFrom: 'yesterday' }, { keyPrefix: '' }])
      expect(() => bulkOf(working, wrong as never)).toThrow('The input is not valid.')

    serve(working)
    const change = await bulkOf(working, { flow: 'nothing' }).cancel('outdated')
    await working.until(change.wait())

    expect(await change.describe()).toMatchObject({ state: 'failed', attempt: 1, reason: 'No flow has this id.' })
    expect((await client.list({ task: 'flowfabric.bulk' })).items).toHaveLength(1)
  })

  test('deletes what has ended, and leaves alone what has not and members of flows', async () => {
    await using working = new Working(fabric)
    const { client } = working
    const ended = await submit(working, work, 20)
    const waiting = await submit(working, other, 2)
    const pair = flow('pair', (f) => {
      f.node('one', work, { input: 1 })
      f.node('two', work, { input: 2 })
    })
    const run = await working.until(client.submit(pair, undefined))
    await Promise.all(ended.map((one) => one.cancel('done')))
    await run.cancel('done')
    serve(working)

    const bulk = bulkOf(working, { state: ['cancelled', 'waiting'] })
    const outcome = await working.until((await bulk.delete({ perSecond: 10_000 })).result())

    expect(outcome).toEqual({ examined: 22, changed: 20, refused: { execution_in_flow: 2 }, isCut: false })
    expect((await client.list({ task: 'work' })).items).toHaveLength(2)
    expect((await client.list({ task: 'other' })).items).toHaveLength(waiting.length)
    await expect(ended[0]?.describe()).rejects.toMatchObject({ code: 'execution_not_found' })
  })

  test('spares the executions of FlowFabric itself, whatever its filter', async () => {
    await using working = new Working(fabric)
    const { client } = working
    const delivery = task<number, string>('flowfabric.webhook', { lane: 'flowfabric.webhooks' })
    const [own] = await submit(working, delivery, 1)
    await submit(working, other, 2)
    const bulk = bulkOf(working, { state: 'waiting' })
    expect((await bulk.preview()).count).toBe(2)
    serve(working)

    const outcome = await working.until((await bulk.cancel('outdated', { perSecond: 10_000 })).result())

    expect(outcome).toMatchObject({ changed: 2, refused: {} })
    expect((await own!.describe()).state).toBe('waiting')
    expect((await bulkOf(working, { task: 'flowfabric.webhook' }).preview()).count).toBe(0)
    expect((await client.list({ state: 'cancelled' })).items).toHaveLength(2)
  })
})
