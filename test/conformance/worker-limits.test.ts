/** Limits, from the definition of a task to the handlers that run. */
import { describe, expect, test } from 'vitest'
import { PermanentError, flow, limit, signal, task } from '../../src/client/index.ts'
import type { LimitDefinition, LimitUse } from '../../src/client/index.ts'
import type { HandlerFunction } from '../../src/client/define/task.ts'
import type { Gauge } from '../../src/kernel/index.ts'
import { limitPartition } from '../../src/stores/partitions.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

interface Job {
  readonly tenant: string
  readonly tokens: number
  readonly ms: number
}

/** Counts handlers that run, and the highest number of each key. */
class Running {
  readonly #now = new Map<string, number>()
  readonly most = new Map<string, number>()
  starts = 0
  /** Resolves when the first handler begins. */
  readonly begun = Promise.withResolvers<undefined>()

  begin(key: string): void {
    this.starts += 1
    this.begun.resolve(undefined)
    const count = (this.#now.get(key) ?? 0) + 1
    this.#now.set(key, count)
    this.most.set(key, Math.max(count, this.most.get(key) ?? 0))
  }

  end(key: string): void {
    this.#now.set(key, (this.#now.get(key) ?? 0) - 1)
  }
}

const LEASE_TTL_MS = 3_000
const SHORT_TTL_MS = 1_000

conforms('limits of running handlers', ({ fabric }) => {
  const job = (changes: Partial<Job> = {}): Job => ({ tenant: 'acme', tokens: 1, ms: 20, ...changes })

  const sleepFor = (ms: number) => new Promise<void>((resolve) => fabric.runtime.after(ms, resolve))

  /** A task under limits whose handler takes as long as its input says, unless another one is given. */
  function limited(limits: readonly LimitUse<Job>[], run?: HandlerFunction<Job, string>) {
    const running = new Running()
    const definition = task<Job, string>('limited', { limits })
    const handler = definition.handle(async (input, context) => {
      running.begin(input.tenant)
      try {
        if (run !== undefined) return await run(input, context)
        await sleepFor(input.ms)
        return input.tenant
      } finally {
        running.end(input.tenant)
      }
    })
    return { definition, handler, running }
  }

  async function gaugesOf({ name }: LimitDefinition): Promise<Gauge[]> {
    const dump = await fabric.dump(limitPartition(name, fabric.store.settings))
    return dump.records.filter((record) => record.type === 'gauge')
  }

  const heldOf = async (definition: LimitDefinition) =>
    (await gaugesOf(definition)).reduce((sum, { heldCount }) => sum + heldCount, 0)

  /** Submits as many jobs at once. */
  const submitAll = (working: Working, definition: ReturnType<typeof limited>['definition'], jobs: readonly Job[]) =>
    working.until(Promise.all(jobs.map((input) => working.client.submit(definition, input))))

  const many = (count: number, changes: Partial<Job> = {}) => Array.from({ length: count }, () => job(changes))

  const endsOf = (working: Working, executions: Awaited<ReturnType<typeof submitAll>>) =>
    working.until(Promise.all(executions.map((execution) => execution.result())))

  test('never exceed the cap with two workers that race, and every permit is returned', async () => {
    await using one = new Working(fabric)
    await using two = new Working(fabric)
    const cap = limit('cap', { concurrency: 3 })
    const { definition, handler, running } = limited([cap])
    const executions = await submitAll(one, definition, many(24))

    const workers = [one.work([handler]), two.work([handler])]
    one.maintain()
    await endsOf(one, executions)

    expect(running.most.get('acme')).toBe(3)
    await one.until(Promise.all(workers.map((worker) => worker.close())))
    expect(await heldOf(cap)).toBe(0)
  })

  test('let as many start in a window as the rate admits', async () => {
    await using working = new Working(fabric)
    const { definition, handler, running } = limited([limit('rate', { rate: { count: 4, per: '1s' } })])
    await submitAll(working, definition, many(12, { ms: 0 }))

    working.work([handler])
    working.maintain()
    await working.elapse(900)
    expect(running.starts).toBe(4)
    await working.elapse(1_000)
    expect(running.starts).toBe(8)
    await working.elapse(1_050)
    expect(running.starts).toBe(12)
  })

  test('count the weight of each execution, whatever the number of weights', async () => {
    await using working = new Working(fabric)
    const tokens = limit('tokens', { rate: { count: 10, per: '1s' } })
    const { definition, handler, running } = limited([tokens.for({ weight: ({ tokens: weight }) => weight })])
    const executions = await submitAll(
      working,
      definition,
      [4, 5, 1, 6, 3, 50].map((weight) => job({ ms: 0, tokens: weight })),
    )

    working.work([handler])
    working.maintain()
    await working.elapse(900)

    const [{ window } = { window: [] }] = await gaugesOf(tokens)
    expect(window.reduce((sum, { weight }) => sum + weight, 0)).toBeLessThanOrEqual(10)
    expect(running.starts).toBeLessThan(6)
    await endsOf(working, executions)
  })

  test('count each key alone, as the input of the submit says', async () => {
    await using working = new Working(fabric)
    const perTenant = limit('per-tenant', { concurrency: 2 })
    const { definition, handler, running } = limited([perTenant.for({ key: ({ tenant }) => tenant })])
    const tenants = ['acme', 'bees', 'cats']
    const executions = await submitAll(
      working,
      definition,
      Array.from({ length: 18 }, (_, i) => job({ tenant: tenants[i % 3]! })),
    )

    working.work([handler])
    working.maintain()
    await endsOf(working, executions)

    expect([...running.most.values()]).toEqual([2, 2, 2])
  })

  test('of two kinds are both kept, and a refusal of one holds nothing of the other', async () => {
    await using working = new Working(fabric)
    const first = limit('a-wide', { concurrency: 9 })
    const second = limit('b-narrow', { concurrency: 1 })
    const { definition, handler, running } = limited([second, first])
    const executions = await submitAll(working, definition, many(6))

    working.work([handler])
    working.maintain()
    await endsOf(working, executions)

    expect(running.most.get('acme')).toBe(1)
    await working.elapse(2_000)
    expect([await heldOf(first), await heldOf(second)]).toEqual([0, 0])
  })

  test('cost a refused execution no attempt and not its place', async () => {
    await using working = new Working(fabric)
    const order: number[] = []
    const cap = limit('in-order', { concurrency: 1 })
    const { definition, handler } = limited([cap], async ({ tokens, ms }, context) => {
      order.push(tokens)
      await sleepFor(ms)
      return `${context.attempt}`
    })
    const [first] = await submitAll(working, definition, [job({ tokens: 0, ms: 100 })])
    working.work([handler])
    working.maintain()
    await working.elapse(20)
    const executions = [first!]
    for (let tokens = 1; tokens <= 4; tokens++) {
      executions.push(...(await submitAll(working, definition, [job({ tokens })])))
      await working.elapse(5)
    }

    const attempts = await endsOf(working, executions)

    expect(attempts).toEqual(['1', '1', '1', '1', '1'])
    if (fabric.store.settings.executionPartitions === 1) expect(order).toEqual([0, 1, 2, 3, 4])
  })

  describe('a permit is free for the next execution', () => {
    /** One execution holds the only permit; `next` resolves when another has run. */
    const afterwards = async (
      working: Working,
      run: HandlerFunction<Job, string>,
      options: { readonly leaseTtl?: number } = {},
    ) => {
      const cap = limit('one', { concurrency: 1 })
      const begun = Promise.withResolvers<undefined>()
      let hasBegun = false
      const { definition, handler, running } = limited([cap], async (input, context) => {
        if (input.tenant === 'next') return 'ran'
        if (hasBegun) return 'again'
        hasBegun = true
        begun.resolve(undefined)
        return await run(input, context)
      })
      const worker = working.work([handler], options)
      working.maintain()
      const [holder] = await submitAll(working, definition, [job()])
      await working.until(begun.promise)
      const [next] = await submitAll(working, definition, [job({ tenant: 'next' })])
      return { holder: holder!, next: next!, worker, running, handler, cap }
    }

    const never = new Promise<never>(() => undefined)

    test('when it completes', async () => {
      await using working = new Working(fabric)
      const { next, running } = await afterwards(working, async () => {
        await sleepFor(500)
        return 'done'
      })

      await working.elapse(400)
      expect(await next.state()).toBeOneOf(['rate_limited', 'active'])
      expect(running.starts).toBe(1)
      expect(await working.until(next.result())).toBe('ran')
    })

    test('when it fails', async () => {
      await using working = new Working(fabric)
      const { next, holder } = await afterwards(working, async () => {
        await sleepFor(100)
        throw new PermanentError('no')
      })

      expect(await working.until(next.result())).toBe('ran')
      expect(await holder.state()).toBe('failed')
    })

    test('while it sleeps and while it waits for a signal', async () => {
      await using working = new Working(fabric)
      const { next, holder } = await afterwards(working, async (_, ctx) => {
        await sleepFor(50)
        await ctx.sleep('nap', '1m')
        await ctx.waitFor(signal('go'))
        return 'woke'
      })

      expect(await working.until(next.result())).toBe('ran')
      expect(await holder.state()).toBe('suspended')
    })

    test('when it is cancelled', async () => {
      await using working = new Working(fabric)
      const { next, holder } = await afterwards(working, async (_, ctx) => {
        await new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('stop'))))
        return 'unreachable'
      })
      await working.until(holder.cancel('the test'))

      expect(await working.until(next.result())).toBe('ran')
      expect(await holder.state()).toBe('cancelled')
    })

    test('when its worker is killed', async () => {
      await using working = new Working(fabric)
      const { next, worker, handler, running } = await afterwards(working, () => never, { leaseTtl: LEASE_TTL_MS })
      worker.crash()
      working.work([handler])

      await working.elapse(LEASE_TTL_MS - 100)
      // It may be leased for the moment in which a worker asks for its permit.
      expect(await next.state()).toBeOneOf(['rate_limited', 'active'])
      expect(running.starts).toBe(1)
      expect(await working.until(next.result())).toBe('ran')
    })

    test('when its worker closes', async () => {
      await using working = new Working(fabric)
      const { next, worker, handler, cap } = await afterwards(working, async (_, ctx) => {
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        throw ctx.signal.reason
      })
      await working.until(worker.close({ drain: 0 }))
      expect(await heldOf(cap)).toBe(0)
      working.work([handler])

      expect(await working.until(next.result())).toBe('ran')
    })
  })

  test('are kept by each namespace for itself: the work of one takes no permit of another, and cancels nothing of it', async () => {
    await using acme = new Working(fabric, { namespace: 'acme' })
    await using beta = new Working(fabric, { namespace: 'beta' })
    const cap = limit('seats', { concurrency: 1 })
    const { definition, handler, running } = limited([cap.for({ key: 'seat', previous: 'cancel' })])
    acme.work([handler])
    beta.work([handler])
    acme.maintain()
    const [first] = await submitAll(acme, definition, [job({ tenant: 'acme', ms: 500 })])
    await acme.until(running.begun.promise)

    const [second] = await submitAll(beta, definition, [job({ tenant: 'beta', ms: 100 })])
    expect(await beta.until(second!.result())).toBe('beta')
    const { keys } = await acme.until(acme.client.limits.describe('seats'))
    await acme.until(acme.client.limits.hold('seats', { key: 'seat', for: '1h' }))
    const [third] = await submitAll(beta, definition, [job({ tenant: 'beta', ms: 0 })])

    expect(await beta.until(third!.result())).toBe('beta')
    expect(await acme.until(first!.result())).toBe('acme')
    const named = keys.map(({ namespace, key }) => `${namespace} ${key}`)
    expect(named.sort()).toEqual(['acme seat', 'beta seat'])
  })

  test('are kept while a handler runs for longer than its first lease', async () => {
    await using one = new Working(fabric)
    await using two = new Working(fabric)
    // A handler that has lost its lease, such as on a machine that stood still, counts no more.
    const untilLost: HandlerFunction<Job, string> = async ({ tenant, ms }, { signal: own }) => {
      const lost = new Promise((resolve) => own.addEventListener('abort', resolve, { once: true }))
      await Promise.race([sleepFor(ms), lost])
      own.throwIfAborted()
      return tenant
    }
    const { definition, handler, running } = limited([limit('long', { concurrency: 1 })], untilLost)
    one.work([handler], { leaseTtl: SHORT_TTL_MS })
    two.work([handler], { leaseTtl: SHORT_TTL_MS })
    one.maintain()
    const executions = await submitAll(one, definition, many(2, { ms: 4 * SHORT_TTL_MS }))

    await endsOf(one, executions)

    expect(running.most.get('acme')).toBe(1)
  })

  describe('a key that a handler holds back', () => {
    test('stops all workers for the time, and costs no attempt', async () => {
      await using one = new Working(fabric)
      await using two = new Working(fabric)
      const api = limit('api', { concurrency: 10 })
      let isBusy = true
      const starts: number[] = []
      const { definition, handler } = limited([api], async (_, ctx) => {
        starts.push(fabric.runtime.now())
        if (isBusy) {
          isBusy = false
          await ctx.limited(api, { retryAfter: '2s' })
        }
        return `${ctx.attempt}/${ctx.failureCount}`
      })
      one.work([handler], { concurrency: 1, prefetch: 0 })
      one.maintain()
      const [first] = await submitAll(one, definition, [job()])
      await one.elapse(100)
      two.work([handler])
      const later = await submitAll(one, definition, many(3))
      await one.elapse(1_500)
      expect(starts).toHaveLength(1)

      expect(await endsOf(one, [first!, ...later])).toEqual(['1/0', '1/0', '1/0', '1/0'])
    })

    test('leaves other keys alone', async () => {
      await using working = new Working(fabric)
      const perTenant = limit('api', { concurrency: 10 })
      const uses = [perTenant.for({ key: (input: Job) => input.tenant })]
      const { definition, handler } = limited(uses, async (input, ctx) => {
        if (input.tenant === 'acme') await ctx.limited('api', { retryAfter: '1h' })
        return 'ran'
      })
      working.work([handler])
      working.maintain()
      const [held, free] = await submitAll(working, definition, [job(), job({ tenant: 'bees' })])

      expect(await working.until(free!.result())).toBe('ran')
      await working.elapse(100)
      expect(await held!.state()).toBe('delayed')
    })
  })

  test('drop the newest instead of letting it wait, if the task asks for it', async () => {
    await using working = new Working(fabric)
    const cap = limit('latest', { concurrency: 1 })
    const { definition, handler, running } = limited([cap.for({ newest: 'drop' })])
    working.work([handler])
    working.maintain()
    const [first] = await submitAll(working, definition, [job({ ms: 1_000 })])
    await working.elapse(20)
    const [second] = await submitAll(working, definition, [job()])

    await expect(working.until(second!.result())).rejects.toMatchObject({ outcome: 'skipped' })

    expect(await working.until(first!.result())).toBe('acme')
    expect(running.starts).toBe(1)
    expect((await second!.describe()).attempts).toEqual([])
  })

  test('cancel the one that runs for longest, if the task asks for it', async () => {
    await using one = new Working(fabric)
    await using two = new Working(fabric)
    const cap = limit('search', { concurrency: 1 })
    const { definition, handler } = limited([cap.for({ previous: 'cancel' })], async ({ tenant }, ctx) => {
      if (tenant === 'last') return tenant
      await new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('stop'))))
      return 'unreachable'
    })
    one.work([handler])
    two.work([handler])
    one.maintain()
    const [first] = await submitAll(one, definition, [job({ tenant: 'first' })])
    await one.elapse(20)
    const [last] = await submitAll(one, definition, [job({ tenant: 'last' })])

    expect(await one.until(last!.result())).toBe('last')

    await expect(one.until(first!.result())).rejects.toMatchObject({ outcome: 'cancelled' })
    expect((await first!.describe()).reason).toContain('limit search')
  })

  describe('a definition', () => {
    test('is changed live, and the program that defined it does not change it back', async () => {
      await using working = new Working(fabric)
      const cap = limit('live', { concurrency: 1 })
      const { definition, handler, running } = limited([cap])
      const executions = await submitAll(working, definition, many(8, { ms: 200 }))
      const partition = limitPartition('live', fabric.store.settings)
      await fabric.runIn(partition, 'defineLimit', { name: 'live', concurrency: 4, by: 'ops' })

      await using other = new Working(fabric)
      other.work([handler])
      other.maintain()
      executions.push(...(await submitAll(other, definition, many(1))))
      await endsOf(other, executions)

      expect(running.most.get('acme')).toBe(4)
    })

    test('of a program replaces an earlier one of a program', async () => {
      await using working = new Working(fabric)
      await submitAll(working, limited([limit('deployed', { concurrency: 1 })]).definition, many(1))
      await using next = new Working(fabric)
      const { definition, handler, running } = limited([limit('deployed', { concurrency: 3 })])
      const executions = await submitAll(next, definition, many(6))
      next.work([handler])
      next.maintain()
      await endsOf(next, executions)

      expect(running.most.get('acme')).toBe(3)
    })

    test('that was deleted limits nothing', async () => {
      await using working = new Working(fabric)
      const { definition, handler, running } = limited([limit('gone', { concurrency: 1 })])
      const executions = await submitAll(working, definition, many(5, { ms: 200 }))
      await fabric.runIn(limitPartition('gone', fabric.store.settings), 'deleteLimit', { name: 'gone' })
      working.work([handler])
      working.maintain()
      await endsOf(working, executions)

      expect(running.most.get('acme')).toBe(5)
    })

    test('that is lost is made again by a worker that has it', async () => {
      await using working = new Working(fabric)
      const { definition, handler } = limited([limit('lost', { concurrency: 1 })])
      const partition = limitPartition('lost', fabric.store.settings)
      working.work([handler])
      working.maintain()
      await working.elapse(50)
      const dump = await fabric.dump(partition)
      expect(dump.records.filter(({ type }) => type === 'limit_definition')).toHaveLength(1)
      const [execution] = await submitAll(working, definition, [job()])

      expect(await working.until(execution!.result())).toBe('acme')
    })
  })

  test('apply to nodes, children, follow-ups and replays', async () => {
    await using working = new Working(fabric)
    const cap = limit('everywhere', { concurrency: 1 })
    const { definition, handler, running } = limited([cap.for({ key: ({ tenant }: Job) => tenant })])
    const parent = task<undefined, string>('parent')
    working.work([
      handler,
      parent.handle(async (_, ctx) => {
        const children = await Promise.all([
          ctx.spawn('one', definition, job()),
          ctx.spawn('two', definition, job(), { limits: [cap.for({ key: 'other' })] }),
        ])
        return (await ctx.all('both', children)).join()
      }),
    ])
    working.maintain()
    const graph = flow('graph', (f) => {
      for (const name of ['a', 'b', 'c']) f.node(name, definition, { input: job() })
    })

    const handle = await working.until(working.client.submit(graph, {}))
    const called = await working.until(working.client.submit(parent, undefined))
    const run = await working.until(working.client.submit(definition, job(), { id: 'x' }))
    await working.until(working.client.submit(definition, job({ ms: 21 }), { id: 'x', ifExists: 'after' }))
    await working.until(Promise.all([handle.wait(), called.result(), run.result()]))
    await working.elapse(2_000)
    await working.until(working.client.replay('x'))
    await working.until(run.result())

    expect(running.most.get('acme')).toBe(1)
    expect(running.starts).toBeGreaterThanOrEqual(8)
  })
})
