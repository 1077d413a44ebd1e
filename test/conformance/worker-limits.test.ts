/** Limits, from the definition of a task to the handlers that run. */
import { describe, expect, test } from 'vitest'
import { limit, task } from '../../src/client/index.ts'
import type { LimitDefinition } from '../../src/client/index.ts'
import type { Gauge } from '../../src/kernel/index.ts'
import { limitPartition } from '../../src/stores/partitions.ts'
import { conforms } from './harness.ts'
import { Working } from './working.ts'

interface Job {
  readonly tenant: string
  readonly tokens: number
  readonly ms: number
}

/** Counts handlers that run, and the highest number by key. */
class Running {
  readonly now = new Map<string, number>()
  readonly most = new Map<string, number>()
  starts = 0

  begin(key = ''): void {
    this.starts += 1
    const count = (this.now.get(key) ?? 0) + 1
    this.now.set(key, count)
    this.most.set(key, Math.max(count, this.most.get(key) ?? 0))
  }

  end(key = ''): void {
    this.now.set(key, (this.now.get(key) ?? 0) - 1)
  }
}

conforms('limits of running handlers', ({ fabric }) => {
  const job = (changes: Partial<Job> = {}): Job => ({ tenant: 'acme', tokens: 1, ms: 20, ...changes })

  const sleepFor = (ms: number) => new Promise<void>((resolve) => fabric.runtime.after(ms, resolve))

  /** A task under a limit whose handler takes as long as its input says. */
  function limitedTask(uses: NonNullable<Parameters<typeof task<Job>>[1]>['limits'] & object, running: Running) {
    const definition = task<Job, string>('limited', { limits: uses })
    const handler = definition.handle(async (input) => {
      running.begin(input.tenant)
      await sleepFor(input.ms)
      running.end(input.tenant)
      return input.tenant
    })
    return { definition, handler }
  }

  async function gaugesOf({ name }: LimitDefinition): Promise<Gauge[]> {
    const dump = await fabric.dump(limitPartition(name, fabric.store.settings))
    return dump.records.filter((record) => record.type === 'gauge')
  }

  const heldOf = async (definition: LimitDefinition) =>
    (await gaugesOf(definition)).reduce((sum, { heldCount }) => sum + heldCount, 0)

  test('never exceed the cap with two workers that race, and return every permit', async () => {
    await using one = new Working(fabric)
    await using two = new Working(fabric)
    const running = new Running()
    const cap = limit('cap', { concurrency: 3 })
    const { definition, handler } = limitedTask([cap], running)
    const executions = await one.until(
      Promise.all(Array.from({ length: 24 }, () => one.client.submit(definition, job()))),
    )

    const workers = [one.work([handler]), two.work([handler])]
    one.maintain()
    await one.until(Promise.all(executions.map((execution) => execution.result())))

    expect(running.most.get('acme')).toBe(3)
    await one.until(Promise.all(workers.map((worker) => worker.close())))
    expect(await heldOf(cap)).toBe(0)
  })

  test('let as many start in a window as the rate admits', async () => {
    await using working = new Working(fabric)
    const running = new Running()
    const rate = limit('rate', { rate: { count: 4, per: '1s' } })
    const { definition, handler } = limitedTask([rate], running)
    await working.until(
      Promise.all(Array.from({ length: 12 }, () => working.client.submit(definition, job({ ms: 0 })))),
    )

    working.work([handler])
    working.maintain()
    await working.elapse(900)
    expect(running.starts).toBe(4)
    await working.elapse(1_000)
    expect(running.starts).toBe(8)
    await working.elapse(1_050)
    expect(running.starts).toBe(12)
  })

  describe('a permit is free again', () => {
    test('for the next execution at once when a handler ends', async () => {
      await using working = new Working(fabric)
      const running = new Running()
      const { definition, handler } = limitedTask([limit('one', { concurrency: 1 })], running)
      working.work([handler])
      const executions = await working.until(
        Promise.all(Array.from({ length: 5 }, () => working.client.submit(definition, job({ ms: 10 })))),
      )
      await working.until(Promise.all(executions.map((execution) => execution.result())))

      expect(running.most.get('acme')).toBe(1)
    })
  })
})
