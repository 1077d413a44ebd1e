/** Conditions, outcomes as inputs, and results of flows, as programs use them. */
import { describe, expect, test } from 'vitest'
import { PermanentError, allOf, ended, flow, task, upstream } from '../../src/client/index.ts'
import type { UpstreamOutcome } from '../../src/client/index.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

const measure = task<undefined, { size: number }>('measure')
const shrink = task<undefined, string>('shrink')
const publish = task<undefined, string>('publish')
const report = task<undefined, string, { measure: UpstreamOutcome<{ size: number }>; shrink: UpstreamOutcome<string> }>(
  'report',
)

const sizes = { measured: 5, isBroken: false }
const handlers = [
  measure.handle(() => {
    if (sizes.isBroken) throw new PermanentError('no ruler')
    return { size: sizes.measured }
  }),
  shrink.handle(() => 'shrunk'),
  publish.handle(() => 'published'),
  report.handle((_, ctx) => {
    return Object.entries(ctx.inputs)
      .map(([name, one]) => `${name} ${one.outcome === 'completed' ? JSON.stringify(one.value) : one.error.code}`)
      .sort()
      .join(', ')
  }),
]

const resize = flow('resize', (f, input: { limit: number }) => {
  const measured = f.node('measure', measure)
  const shrunk = f.node('shrink', shrink, {
    after: allOf(measured),
    when: (inputs) => inputs.measure.size > input.limit,
  })
  f.node('publish', publish, { after: allOf(shrunk) })
  return f.node('report', report, { after: ended({ measure: measured, shrink: shrunk }) })
})

conforms('a flow with conditions', ({ fabric }) => {
  const submitted = async (working: Working, limit: number) => {
    sizes.isBroken = false
    return working.until(working.client.submit(resize, { limit }, { id: `resize:${limit}` }))
  }

  test('runs a node whose condition is met by the results and the input of the flow', async () => {
    await using working = new Working(fabric)
    working.work(handlers, { flows: [resize] })
    const handle = await submitted(working, 3)

    expect(await working.until(handle.result())).toBe('measure {"size":5}, shrink "shrunk"')
    expect((await working.until(handle.describe())).counts).toMatchObject({ completed: 4 })
  })

  test('skips a node whose condition is not met, and the nodes that need it, and completes', async () => {
    await using working = new Working(fabric)
    working.work(handlers, { flows: [resize] })
    const handle = await submitted(working, 9)

    expect(await working.until(handle.result())).toBe('measure {"size":5}, shrink condition')
    expect((await working.until(handle.describe())).counts).toMatchObject({ completed: 2, skipped: 2 })
    expect((await working.until(handle.member('shrink').why())).text).toContain('its condition was not met')
    expect((await working.until(handle.member('publish').why())).text).toContain(
      "a condition was not met before it: 'shrink'",
    )
    expect(await working.until(handle.member('shrink').describe())).toMatchObject({ isExcused: true, attempt: 1 })
  })

  test('reports a failure before it, which fails the flow', async () => {
    await using working = new Working(fabric)
    working.work(handlers, { flows: [resize] })
    sizes.isBroken = true
    const handle = await working.until(working.client.submit(resize, { limit: 4 }))

    await expect(working.until(handle.result())).rejects.toMatchObject({
      code: 'flow_failed',
      detail: { nodes: ['measure'] },
    })
    expect(await working.until(handle.output('report'))).toBe('measure permanent, shrink dependency_impossible')
  })

  test('waits for a worker that has its definition, and explains that', async () => {
    await using working = new Working(fabric)
    const worker = working.work(handlers, { build: 'old' })
    const handle = await submitted(working, 2)
    const node = handle.member('shrink')
    while ((await working.until(node.describe())).refusals === undefined) await working.elapse(10)

    const { text } = await working.until(node.why())
    expect(text).toContain("part of flow 'resize', and this worker does not have that flow")
    await working.until(worker.close())
    working.work(handlers, { flows: [resize], build: 'new' })

    expect(await working.until(handle.result())).toContain('shrunk')
    expect(await working.until(node.describe())).toMatchObject({ failureCount: 0, attempt: 1 })
  })

  test('fails an attempt whose condition throws, which is retried', async () => {
    await using working = new Working(fabric)
    let throws = 1
    const picky = flow('picky', (f) => {
      const measured = f.node('measure', measure)
      return f.node('shrink', shrink, {
        after: allOf(measured),
        retry: { attempts: 3, backoff: { kind: 'fixed', delay: 10 } },
        when: () => {
          if (throws-- > 0) throw new Error('not today')
          return true
        },
      })
    })
    working.work(handlers, { flows: [picky] })
    sizes.isBroken = false
    const handle = await working.until(working.client.submit(picky, undefined))

    expect(await working.until(handle.result())).toBe('shrunk')
    const { attempts } = await working.until(handle.member('shrink').describe())
    expect(attempts[0]).toMatchObject({ outcome: 'failed', failure: { message: 'not today' } })
  })

  test('fails a node whose condition is not synchronous', async () => {
    await using working = new Working(fabric)
    const slow = flow('slow', (f) => {
      const when = (() => Promise.resolve(true)) as unknown as () => boolean
      f.node('shrink', shrink, { when, retry: { attempts: 1 } })
    })
    working.work(handlers, { flows: [slow] })
    const handle = await working.until(working.client.submit(slow, undefined))

    await expect(working.until(handle.result())).rejects.toThrow('must return true or false')
  })

  test('that replaces another under its id is decided with its own input', async () => {
    await using working = new Working(fabric)
    working.work(handlers, { flows: [resize] })
    sizes.isBroken = false
    const submit = (limit: number) =>
      working.until(working.client.submit(resize, { limit }, { id: 'again', ifExists: 'replace' }))

    expect(await working.until((await submit(3)).result())).toContain('shrink "shrunk"')
    expect(await working.until((await submit(9)).result())).toContain('shrink condition')
    expect(await working.until((await submit(3)).result())).toContain('shrink "shrunk"')
  })

  test('is another flow for another input, under one id', async () => {
    await using working = new Working(fabric)
    await working.until(working.client.submit(resize, { limit: 1 }, { id: 'one' }))

    const same = await working.until(working.client.submit(resize, { limit: 1 }, { id: 'one' }))
    expect(same.created).toBe('joined')
    await expect(working.until(working.client.submit(resize, { limit: 2 }, { id: 'one' }))).rejects.toMatchObject({
      code: 'input_differs',
    })
  })
})

conforms('the result of a flow', ({ fabric }) => {
  describe('by id or key, without its definition', () => {
    test('is that of each node that no other waits for', async () => {
      await using working = new Working(fabric)
      working.work(handlers, { flows: [resize] })
      sizes.isBroken = false
      const handle = await working.until(working.client.submit(resize, { limit: 3 }, { id: 'known' }))

      const results = { publish: 'published', report: 'measure {"size":5}, shrink "shrunk"' }
      expect(await working.until(working.client.flow('known').result())).toEqual(results)
      expect(await working.until(working.client.flow(handle.id).result())).toEqual(results)
    })

    test('has no entry for a node that a condition skipped', async () => {
      await using working = new Working(fabric)
      working.work(handlers, { flows: [resize] })
      sizes.isBroken = false
      const handle = await working.until(working.client.submit(resize, { limit: 8 }))

      expect(Object.keys(await working.until(working.client.flow(handle.id).result()))).toEqual(['report'])
    })

    test('is an error that names the failed node', async () => {
      await using working = new Working(fabric)
      working.work(handlers, { flows: [resize] })
      sizes.isBroken = true
      const { id } = await working.until(working.client.submit(resize, { limit: 3 }))

      await expect(working.until(working.client.flow(id).result())).rejects.toMatchObject({
        code: 'flow_failed',
        detail: { nodes: ['measure'] },
      })
    })

    test('is that of a flow that was built incrementally', async () => {
      await using working = new Working(fabric)
      working.work(handlers)
      sizes.isBroken = true
      const open = await working.until(working.client.createFlow('built', { hold: true }))
      const measured = await working.until(open.add('measure', measure, undefined))
      const tolerant = allOf(upstream(measured, { onFailure: 'ignore' }))
      await working.until(open.add('publish', publish, undefined, { after: tolerant }))
      await working.until(open.seal())

      expect(await working.until(open.result())).toEqual({ publish: 'published' })
    })
  })
})
