import { describe, expect, test } from 'vitest'
import { LIST_PAGE_MAX, WORKER_FORGET_MS } from '../../src/kernel/index.ts'
import { STORE_PARTITION } from '../../src/stores/partitions.ts'
import { ADA, GivenWorker, WORKER_TTL_MS } from './given-worker.ts'
import type { Boot } from './given-worker.ts'
import { conforms } from './harness.ts'

const SECOND_BOOT: Boot = { ...ADA, bootId: 'boot 2' }

conforms('the registry of workers', ({ fabric, clock }) => {
  const workers = new GivenWorker(fabric)

  describe('a registration', () => {
    test('is listed with what the worker reported', async () => {
      expect(await workers.register()).toEqual({
        kind: 'registered',
        expiresAt: clock.now() + WORKER_TTL_MS,
        drain: false,
      })

      expect(await workers.look()).toMatchObject({
        id: 'ada',
        workerId: 'pool',
        state: { phase: 'running' },
        tasks: [{ name: 'greet' }],
        capabilities: ['gpu'],
        registeredAt: clock.now(),
      })
      expect(await workers.events()).toEqual(['worker_registered'])
    })

    test('is refreshed by the same boot, also with other tasks', async () => {
      await workers.register()
      clock.advance(1_000)

      expect((await workers.register(ADA, { slots: 8 })).kind).toBe('refreshed')

      expect(await workers.look()).toMatchObject({ slots: 8, registeredAt: clock.now() - 1_000 })
      expect(await workers.events()).toEqual(['worker_registered'])
    })

    test('keeps the load that was reported when a heartbeat leaves it out', async () => {
      await workers.register(ADA, { runningCount: 3 })
      clock.advance(1_000)

      await fabric.runIn(STORE_PARTITION, 'heartbeatWorker', { ...ADA, isDraining: false })

      expect(await workers.look()).toMatchObject({ runningCount: 3, heartbeatAt: clock.now() })
    })

    test('is not given to another boot while it is live, unless that takes it over', async () => {
      await workers.register()

      expect(await workers.register(SECOND_BOOT)).toMatchObject({ kind: 'refused', code: 'instance_in_use' })
      expect((await workers.register(SECOND_BOOT, {}, true)).kind).toBe('registered')

      expect(await workers.heartbeat()).toEqual({ kind: 'not_registered' })
      expect((await workers.heartbeat(SECOND_BOOT)).kind).toBe('refreshed')
    })

    test('is given to another boot once it has lapsed, before and after the due pass', async () => {
      await workers.register()
      clock.advance(WORKER_TTL_MS)

      expect((await workers.register(SECOND_BOOT)).kind).toBe('registered')
      clock.advance(WORKER_TTL_MS)
      await workers.duePass()
      expect((await workers.register()).kind).toBe('registered')
    })

    test('of two boots at once is given to one of them', async () => {
      const kinds = (await Promise.all([workers.register(), workers.register(SECOND_BOOT)])).map(({ kind }) => kind)

      expect(kinds.sort()).toEqual(['refused', 'registered'])
      expect(await workers.events()).toEqual(['worker_registered'])
    })

    test('is withdrawn by its own boot alone', async () => {
      await workers.register()
      const unregister = (boot: Boot) => fabric.runIn(STORE_PARTITION, 'unregisterWorker', boot)

      expect(await unregister(SECOND_BOOT)).toEqual({ kind: 'not_registered' })
      expect(await unregister(ADA)).toEqual({ kind: 'unregistered' })
      expect(await unregister(ADA)).toEqual({ kind: 'not_registered' })

      expect(await workers.list()).toEqual([])
      expect(await workers.events()).toEqual(['worker_registered', 'worker_unregistered'])
    })
  })

  describe('a heartbeat', () => {
    test('extends the registration, reports the load, and writes no event', async () => {
      await workers.register()
      clock.advance(WORKER_TTL_MS - 1)

      expect(await workers.heartbeat(ADA, 3)).toEqual({
        kind: 'refreshed',
        expiresAt: clock.now() + WORKER_TTL_MS,
        drain: false,
      })
      clock.advance(WORKER_TTL_MS - 1)

      expect((await workers.duePass()).handled).toEqual([])
      expect(await workers.look()).toMatchObject({ runningCount: 3, state: { phase: 'running' } })
      expect(await workers.events()).toEqual(['worker_registered'])
    })

    test('of a worker that drains on its own is recorded as one transition', async () => {
      await workers.register()

      await workers.heartbeat(ADA, 2, true)
      await workers.heartbeat(ADA, 1, true)

      expect((await workers.look())?.state).toEqual({ phase: 'draining', since: clock.now() })
      expect(await workers.events()).toEqual(['worker_registered', 'worker_draining'])
    })

    test('never revives a registration that has lapsed, before and after the due pass', async () => {
      await workers.register()
      clock.advance(WORKER_TTL_MS)

      expect(await workers.heartbeat()).toEqual({ kind: 'not_registered' })
      expect((await workers.look())?.state).toMatchObject({ phase: 'lost', silentMs: WORKER_TTL_MS })
      await workers.duePass()
      expect(await workers.heartbeat()).toEqual({ kind: 'not_registered' })
      expect((await workers.register()).kind).toBe('registered')
      expect((await workers.heartbeat()).kind).toBe('refreshed')
      expect(await workers.events()).toEqual(['worker_registered', 'worker_lost', 'worker_registered'])
    })

    test('never revives a registration that was declared dead', async () => {
      await workers.register()
      await workers.markDead()

      expect(await workers.heartbeat()).toEqual({ kind: 'not_registered' })
      expect((await workers.look())?.state).toMatchObject({ phase: 'dead', by: 'bob' })
    })

    test('of a worker that was never there is answered in the same way', async () => {
      expect(await workers.heartbeat()).toEqual({ kind: 'not_registered' })
    })
  })

  describe('a worker without heartbeats', () => {
    test('is lost after its ttl, once, and forgotten later', async () => {
      await workers.register()
      clock.advance(WORKER_TTL_MS)

      const passes = await Promise.all([workers.duePass(), workers.duePass()])
      expect(passes.flatMap(({ handled }) => handled)).toEqual([{ case: 'worker_expiry', executionId: 'ada' }])
      clock.advance(WORKER_FORGET_MS - 1)
      expect((await workers.duePass()).handled).toEqual([])
      clock.advance(1)
      await workers.duePass()

      expect(await workers.list()).toEqual([])
      expect(await workers.events()).toEqual(['worker_registered', 'worker_lost'])
    })
  })

  describe('marking a worker dead', () => {
    test('is idempotent, and refused for an unknown worker', async () => {
      await workers.register()

      const first = await workers.markDead()
      clock.advance(1_000)
      const again = await workers.markDead()

      expect([first, again]).toMatchObject([
        { kind: 'marked', isSwept: false },
        { kind: 'already_dead', at: clock.now() - 1_000, isSwept: false },
      ])
      expect(await workers.markDead(SECOND_BOOT)).toMatchObject({ kind: 'already_dead' })
      expect(await workers.markDead({ workerInstanceId: 'bob', bootId: '' })).toMatchObject({
        code: 'worker_not_found',
        detail: { workerInstanceId: 'bob' },
      })
      expect(await workers.events()).toEqual(['worker_registered', 'worker_dead'])
    })

    test.each(['register first', 'mark first'])('races with a registration: %s', async (order) => {
      await workers.register()
      const moves = [() => workers.register(), () => workers.markDead()]
      if (order === 'mark first') moves.reverse()

      const kinds = (await Promise.all(moves.map((move) => move()))).map(({ kind }) => kind)

      const worker = await workers.look()
      expect(worker?.state.phase).toBe(order === 'mark first' ? 'running' : 'dead')
      expect(kinds.sort()).toEqual(order === 'mark first' ? ['marked', 'registered'] : ['marked', 'refreshed'])
      expect((await workers.heartbeat()).kind).toBe(order === 'mark first' ? 'refreshed' : 'not_registered')
    })
  })

  describe('a request to drain', () => {
    test('reaches the worker with its next heartbeat, and is written once', async () => {
      await workers.register()
      const ask = () =>
        fabric.runIn(STORE_PARTITION, 'drainWorker', { workerInstanceId: 'ada', by: 'bob', reason: 'deploy' })

      expect([await ask(), await ask()]).toEqual([{ kind: 'drain_requested' }, { kind: 'already_requested' }])

      expect(await workers.heartbeat()).toMatchObject({ kind: 'refreshed', drain: true })
      expect(await workers.heartbeat(ADA, 0, true)).toMatchObject({ drain: true })
      expect(await workers.register()).toMatchObject({ kind: 'refreshed', drain: true })
      expect(await workers.look()).toMatchObject({
        state: { phase: 'draining' },
        drain: { by: 'bob', reason: 'deploy' },
      })
      expect(await workers.events()).toEqual(['worker_registered', 'worker_draining'])
    })

    test('is refused for a worker that is unknown or lost', async () => {
      const ask = () => fabric.runIn(STORE_PARTITION, 'drainWorker', { workerInstanceId: 'ada' })

      expect(await ask()).toMatchObject({ code: 'worker_not_found' })
      await workers.register()
      clock.advance(WORKER_TTL_MS)
      expect(await ask()).toMatchObject({ code: 'worker_not_live' })
    })
  })

  describe('a listing', () => {
    test('has the workers of a namespace in the order of their ids, page by page', async () => {
      for (const id of ['c', 'a', '3-d', 'b']) {
        const namespace = id === 'b' ? 'other' : 'default'
        await workers.register({ workerInstanceId: id, bootId: 'boot' }, { namespace })
      }

      const pages: string[][] = []
      let cursor: string | undefined
      do {
        const input = { limit: 2, namespace: 'default', cursor }
        const page = await fabric.runIn(STORE_PARTITION, 'listWorkers', input)
        pages.push(page.workers.map(({ id }) => id))
        cursor = page.cursor
      } while (cursor !== undefined)

      expect(pages).toEqual([['3-d', 'a'], ['c']])
      expect((await workers.list()).map(({ id }) => id)).toEqual(['3-d', 'a', 'b', 'c'])
    })

    test('of one instance has nothing of other namespaces', async () => {
      await workers.register()
      const listed = async (workerInstanceId: string, namespace?: string) => {
        const input = { limit: 2, workerInstanceId, namespace }
        return (await fabric.runIn(STORE_PARTITION, 'listWorkers', input)).workers.map(({ id }) => id)
      }

      expect(await listed('ada')).toEqual(['ada'])
      expect(await listed('ada', 'other')).toEqual([])
      expect(await listed('bob')).toEqual([])
    })

    test('has a limit', async () => {
      await workers.register()

      const page = await fabric.runIn(STORE_PARTITION, 'listWorkers', { limit: 10 * LIST_PAGE_MAX })

      expect(page).toMatchObject({ workers: [{ id: 'ada' }], cursor: undefined })
    })
  })

  test('a caller that is bound to a namespace does not reach workers of another one', async () => {
    await workers.register()
    const within = { workerInstanceId: 'ada', reason: 'mine', within: 'other' }

    expect(await fabric.runIn(STORE_PARTITION, 'markWorkerDead', within)).toMatchObject({ code: 'worker_not_found' })
    expect((await workers.look())?.state.phase).toBe('running')
  })
})
