/** Workers claim only what they are capable of, and learn of needs that a submit has made. */
import { expect, test } from 'vitest'
import { allOf, flow, task } from '../../src/client/index.ts'
import type { Answer, Store } from '../../src/stores/store.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

const render = task<string, string>('render')
const handler = render.handle((frame, ctx) => `${frame} in ${ctx.namespace}`)

/** A store with some of its methods replaced. */
function withMethods(store: Store, methods: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name in methods) return Reflect.get(methods, name) as unknown
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

/** A store whose wake-ups are all lost. */
function muted(store: Store): Store {
  return withMethods(store, { onWake: () => () => undefined })
}

const NOTHING_LISTED: Answer = {
  kind: 'answered',
  result: { kind: 'queues_listed', queues: [], cursor: undefined },
  blobs: [],
}

/** A store whose listings of queues find none. */
function unlisted(store: Store): Store {
  const run: Store['run'] = async (partition, calls) => {
    const others = calls.filter(({ operation }) => operation !== 'listQueues')
    const answers = others.length === 0 ? [] : await store.run(partition, others)
    return calls.map(({ operation }) => (operation === 'listQueues' ? NOTHING_LISTED : answers.shift()!))
  }
  return withMethods(store, { run })
}

conforms('a worker with capabilities', ({ fabric }) => {
  test('never gets an execution that needs more than it has, and is not delayed by one', async () => {
    await using working = new Working(fabric)
    const { client } = working
    const submit = (needs: readonly string[], priority = 0) => client.submit(render, 'x', { needs, priority })
    const tpu = await Promise.all(Array.from({ length: 60 }, () => submit(['gpu', 'tpu'], 9)))
    const gpu = await Promise.all([submit(['gpu']), submit(['region:eu', 'gpu']), submit([])])

    const worker = working.work([handler], { capabilities: ['region:eu', 'gpu'], concurrency: 2 })
    await working.until(Promise.all(gpu.map((execution) => execution.result())))
    await working.elapse(10_000)

    expect(worker.stats().claimed).toBe(gpu.length)
    expect(await tpu[0]!.state()).toBe('waiting')
    expect((await tpu[0]!.why()).text).toContain('It needs gpu, tpu: only workers with these capabilities can take it.')
  })

  test('learns of new needs through a wake-up alone', async () => {
    await using working = new Working(fabric, {}, unlisted(fabric.store))
    await using elsewhere = new Working(fabric)
    working.work([handler], { capabilities: ['gpu'], sweep: '1h' })
    await working.elapse(100)

    const execution = await elsewhere.until(elsewhere.client.submit(render, 'x', { needs: ['gpu'] }))

    expect(await working.until(execution.result())).toBe('x in default')
  })

  test('learns of new needs without a single wake-up', async () => {
    await using working = new Working(fabric, {}, muted(fabric.store))
    await using elsewhere = new Working(fabric)
    working.work([handler], { capabilities: ['gpu'] })
    await working.elapse(100)

    const execution = await elsewhere.until(elsewhere.client.submit(render, 'x', { needs: ['gpu'] }))

    expect(await working.until(execution.result())).toBe('x in default')
  })

  test('serves nodes of flows and children that need it, which inherit nothing', async () => {
    await using working = new Working(fabric)
    const parent = task<string, string>('parent')
    const seen: unknown[] = []
    working.work([
      parent.handle(async (frame, ctx) => {
        seen.push(ctx.node)
        return await ctx.call('frame', render, frame, { needs: ['gpu'] })
      }),
    ])
    const capable = working.work([handler], { capabilities: ['gpu'] })
    const graph = flow('film', (f) => {
      const first = f.node('first', render, { input: 'a', needs: ['gpu'] })
      f.node('second', parent, { input: 'b', after: allOf(first) })
    })

    const handle = await working.until(working.client.submit(graph, {}))
    await working.until(handle.wait())

    expect(seen.every((node) => node === 'second')).toBe(true)
    expect(capable.stats().settled.completed).toBe(2)
  })

  test('claims executions of its namespace, and a worker of all namespaces claims those of all', async () => {
    await using acme = new Working(fabric, { namespace: 'acme' })
    await using other = new Working(fabric)
    await using all = new Working(fabric, { allNamespaces: true })
    const own = await acme.until(acme.client.submit(render, 'x', { needs: ['gpu'] }))
    const foreign = await other.until(other.client.submit(render, 'x'))
    const lone = await acme.until(acme.client.submit(render, 'x', { needs: ['tpu'] }))

    const worker = acme.work([handler], { capabilities: ['gpu'] })
    expect(await acme.until(own.result())).toBe('x in acme')
    await acme.elapse(6_000)
    expect([worker.stats().claimed, await foreign.state(), await lone.state()]).toEqual([1, 'waiting', 'waiting'])

    all.work([handler], { capabilities: ['tpu'] })
    expect(await all.until(Promise.all([foreign.result(), lone.result()]))).toEqual(['x in default', 'x in acme'])
  })
})
