/** An operator holds a lane or one of its tasks, and divides workers between lanes. */
import { describe, expect, test } from 'vitest'
import { task } from '../../src/client/index.ts'
import { LANE_TASK_COUNT_MAX, laneLimitName } from '../../src/kernel/index.ts'
import type { ConfigureLaneInput, Lane, SubmitFlowInput } from '../../src/kernel/index.ts'
import { limitPartition } from '../../src/stores/partitions.ts'
import { CLASS, LANE } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'
import { Working } from './working.ts'

conforms('a lane', ({ fabric, flows, given, clock }) => {
  const configure = (change: Omit<ConfigureLaneInput, 'lane' | 'by'>) =>
    fabric.runIn('m:0', 'configureLane', { lane: LANE, by: 'ops', ...change })
  /** Changes the settings of the lane, and copies them to its executions. */
  const hold = async (change: Omit<ConfigureLaneInput, 'lane' | 'by'>): Promise<Lane> => {
    const result = await configure(change)
    if (result.kind === 'refused') throw new Error(result.code)
    await fabric.run('applyLane', { lane: result.lane })
    return result.lane
  }

  describe('that is paused', () => {
    test('takes submits, and gives nothing to workers until it is resumed', async () => {
      await given.eligibleExecution()
      await hold({ state: 'paused', reason: 'an incident' })
      await given.eligibleExecution()

      expect(await given.claim({ count: 5 })).toMatchObject({ executions: [], more: false })
      await hold({ state: 'active' })
      expect((await given.claim({ count: 5 })).executions).toHaveLength(2)
    })

    test('lets running executions continue', async () => {
      const held = await given.activeExecution()
      await hold({ state: 'paused' })

      expect(await fabric.run('completeExecution', held)).toMatchObject({ kind: 'completed' })
    })

    test('is named by the explanation of a waiting execution', async () => {
      const { executionId } = await given.eligibleExecution()
      await hold({ state: 'paused', reason: 'an incident' })

      expect(await fabric.run('explainExecution', { executionId })).toMatchObject({
        explanation: {
          why: 'waits_for_worker',
          hold: { state: 'paused', by: 'ops', reason: 'an incident', at: clock.now() },
        },
      })
    })

    test('does not keep another lane from its workers', async () => {
      await given.eligibleExecution()
      await hold({ state: 'paused' })
      const other = await given.eligibleExecution({ lane: 'other' })
      const queues = [LANE, 'other'].map((lane) => ({ lane, class: CLASS }))

      expect((await given.claim({ queues, count: 5 })).executions).toMatchObject([other])
    })
  })

  describe('one task of which is held', () => {
    test('gives the other tasks to workers', async () => {
      await given.eligibleExecution({ task: 'slow', class: 'slow' })
      const quick = await given.eligibleExecution()
      await hold({ state: 'paused', task: 'slow' })
      const queues = ['slow', CLASS].map((name) => ({ lane: LANE, class: name }))

      expect((await given.claim({ queues, count: 5 })).executions).toMatchObject([quick])
      await hold({ state: 'active', task: 'slow' })
      expect((await given.claim({ queues, count: 5 })).executions).toHaveLength(1)
    })

    test('has a limit', async () => {
      for (let i = 0; i < LANE_TASK_COUNT_MAX; i++) await configure({ state: 'paused', task: `task-${i}` })

      expect(await configure({ state: 'paused', task: 'one-more' })).toMatchObject({ code: 'too_many_held_tasks' })
    })
  })

  describe('that is drained or disabled', () => {
    test.each([
      ['draining', 'lane_draining', 1],
      ['disabled', 'lane_disabled', 0],
    ] as const)('%s refuses submits', async (state, code, claimed) => {
      await given.eligibleExecution()
      await hold({ state })

      expect(await given.submit()).toMatchObject({ kind: 'refused', code })
      expect((await given.claim({ count: 5 })).executions).toHaveLength(claimed)
    })

    test('answers the repetition of a submit that it has accepted', async () => {
      const input = given.createInput({ key: 'k' })
      await fabric.run('createExecution', input)
      await hold({ state: 'draining' })

      expect(await fabric.run('createExecution', input)).toMatchObject({ kind: 'created' })
      expect(await given.submit({ executionId: input.executionId, key: 'k' })).toMatchObject({ kind: 'joined' })
    })

    test.each([
      ['draining', 'lane_draining'],
      ['disabled', 'lane_disabled'],
    ] as const)('%s refuses to replace a finished flow, which keeps its members', async (state, code) => {
      const { graph, calls } = flows.draw({ a: [], b: ['a'] })
      const [call] = calls as [SubmitFlowInput]
      await fabric.run('submitFlow', call)
      await graph.completeWith('a', new TextEncoder().encode('done'))
      await graph.complete('b')
      await hold({ state })
      const before = await fabric.dump()

      for (const ifExists of ['replace', 'after'] as const) {
        const again = { ...call, requestId: given.requestId(), digest: 'other', ifExists }
        expect(await fabric.run('submitFlow', again)).toMatchObject({ kind: 'refused', code })
      }
      expect(await fabric.dump()).toEqual(before)
    })

    test.each([
      ['draining', 'lane_draining'],
      ['disabled', 'lane_disabled'],
    ] as const)('%s refuses the follow-up of a flow that runs', async (state, code) => {
      const { calls } = flows.draw({ a: [], b: ['a'] })
      const [call] = calls as [SubmitFlowInput]
      await fabric.run('submitFlow', call)
      const next = { ...call, requestId: given.requestId(), digest: 'other', ifExists: 'after' } as const
      await hold({ state })
      const before = await fabric.dump()

      expect(await fabric.run('submitFlow', next)).toMatchObject({ kind: 'refused', code })
      expect(await fabric.dump()).toEqual(before)
      await hold({ state: 'active' })
      expect(await fabric.run('submitFlow', next)).toMatchObject({ kind: 'follow_up' })
      await hold({ state })
      expect(await fabric.run('submitFlow', next)).toMatchObject({ kind: 'follow_up' })
    })

    test.each([
      ['draining', 'lane_draining'],
      ['disabled', 'lane_disabled'],
    ] as const)('%s refuses a new member of a flow, unless running work adds it', async (state, code) => {
      const graph = await flows.open(['parent'])
      const holder = await graph.claim('parent')
      const { executionId } = await given.eligibleExecution()
      await hold({ state })

      expect((await refusal(fabric, () => graph.add('outsider'))).code).toBe(code)
      expect(await graph.add('child', { holder, awaited: {} })).toMatchObject({ kind: 'added' })
      const existing = { flowId: graph.flowId, executionId, name: 'existing', after: [] }
      expect(await fabric.run('addExecutionToFlow', existing)).toMatchObject({ kind: 'added' })
    })
  })

  describe('whose settings change', () => {
    test('keeps the later version, in whatever order the copies arrive', async () => {
      const first = await hold({ state: 'paused' })
      const second = await hold({ state: 'active' })

      expect(second.version).toBeGreaterThan(first.version)
      expect(await fabric.run('applyLane', { lane: first })).toEqual({ kind: 'lane_up_to_date' })
      await given.eligibleExecution()
      expect((await given.claim()).executions).toHaveLength(1)
    })

    test('answers a repetition without a new version', async () => {
      const { version } = await hold({ state: 'paused' })
      clock.advance(1_000)

      expect(await configure({ state: 'paused' })).toMatchObject({ kind: 'lane_unchanged', lane: { version } })
    })

    test('is listed until its copies are confirmed', async () => {
      const pending = async () =>
        (await fabric.runIn('m:0', 'listLanes', { isCopying: true })).lanes.map(({ id }) => id)
      const { version } = await hold({ state: 'paused' })
      expect(await pending()).toEqual([LANE])
      const later = await hold({ weight: 2 })

      await fabric.runIn('m:0', 'confirmLane', { lane: LANE, version })
      expect(await pending()).toEqual([LANE])
      await fabric.runIn('m:0', 'confirmLane', { lane: LANE, version: later.version })
      expect(await pending()).toEqual([])
    })
  })

  test('with a weight gets its share of a worker that serves several lanes', async () => {
    await hold({ weight: 3 })
    await given.executions(40)
    await given.executions(40, () => ({ lane: 'other' }))
    const queues = [LANE, 'other'].map((lane) => ({ lane, class: CLASS }))
    const lanes: string[] = []
    for (let seed = 1; seed <= 40; seed++) {
      const { executions } = await given.claim({ queues, seed: seed * 7_919 })
      lanes.push(...executions.map(({ lane }) => lane))
    }

    // Three quarters on average; the draws depend on the seeds alone.
    expect(lanes.filter((lane) => lane === LANE).length).toBeGreaterThan(24)
    expect(lanes.filter((lane) => lane === LANE).length).toBeLessThan(36)
  })

  test('is held and resumed by a client, and its worker notices', async () => {
    await using working = new Working(fabric)
    const { client } = working
    const greet = task<string, string>('greet', { lane: 'mail' })
    working.work([greet.handle((name) => `Hello, ${name}`)])
    const lane = client.lane('mail')
    await lane.pause({ reason: 'an incident', by: 'ops' })
    const submitted = await client.submit(greet, 'Ada')
    const why = await client.why(submitted.id)
    expect(why.text).toContain('paused')
    expect(await client.lanes('mail')).toMatchObject([{ lane: 'mail', state: 'paused', counts: { waiting: 1 } }])

    expect(await lane.resume()).toMatchObject({ state: 'active' })

    expect(await working.until(submitted.result())).toBe('Hello, Ada')
  })

  describe('with a limit', () => {
    const sleepFor = (ms: number) => new Promise<void>((resolve) => fabric.runtime.after(ms, resolve))

    /** Two tasks of the lane, and the handlers of both that have started and that run. */
    function twoTasks() {
      const seen = { starts: 0, running: 0, most: 0 }
      const started = new Map<number, () => void>()
      /** Resolves with the start of so many handlers. */
      const startOf = (count: number) => new Promise<void>((resolve) => started.set(count, resolve))
      const run = async () => {
        seen.starts += 1
        seen.running += 1
        seen.most = Math.max(seen.most, seen.running)
        started.get(seen.starts)?.()
        await sleepFor(20)
        seen.running -= 1
      }
      const tasks = ['mail.send', 'mail.sort'].map((name) => task(name, { lane: 'mail' }))
      return { seen, startOf, tasks, handlers: tasks.map((definition) => definition.handle(run)) }
    }

    const submitAll = (working: Working, tasks: ReturnType<typeof twoTasks>['tasks'], count: number) => {
      const each = tasks.flatMap((definition) => Array.from({ length: count }, () => working.client.submit(definition)))
      return working.until(Promise.all(each))
    }

    test('runs as many of all its tasks as the limit allows, over two workers, also of what waited before', async () => {
      await using one = new Working(fabric)
      await using two = new Working(fabric)
      const { seen, tasks, handlers } = twoTasks()
      const executions = await submitAll(one, tasks, 6)
      const status = await one.client.lane('mail').limit({ concurrency: 2 }, { by: 'ops' })

      const workers = [one.work(handlers), two.work(handlers)]
      one.maintain()
      await one.until(Promise.all(executions.map((execution) => execution.result())))

      expect(status).toMatchObject({ lane: 'mail', limit: { concurrency: 2 } })
      expect(seen).toEqual({ starts: 12, running: 0, most: 2 })
      await one.until(Promise.all(workers.map((worker) => worker.close())))
      const { records } = await fabric.dump(limitPartition(laneLimitName('mail', 'default'), fabric.store.settings))
      expect(records.filter((record) => record.type === 'gauge').map(({ heldCount }) => heldCount)).toEqual([0])
      expect(await one.client.limits.list()).toEqual([])
    })

    test('belongs to one namespace: others use none of it up, do not see it, and have their own', async () => {
      await using acme = new Working(fabric, { namespace: 'acme' })
      await using beta = new Working(fabric, { namespace: 'beta' })
      await using operator = new Working(fabric, { allNamespaces: true })
      const tool = operator.client
      const { seen: ofAcme, startOf, tasks, handlers } = twoTasks()
      const others = twoTasks()
      await acme.client.lane('mail').limit({ rate: { count: 2, per: '1h' } }, { by: 'ada' })
      const waiting = await submitAll(acme, tasks, 2)
      const second = startOf(2)
      acme.work(handlers)
      beta.work(others.handlers)
      acme.maintain()
      await acme.until(second)

      const free = await submitAll(beta, others.tasks, 3)
      await beta.until(Promise.all(free.map((execution) => execution.result())))
      const [ofBeta] = await beta.client.lanes('mail')
      const unset = await beta.client.lane('mail').limit({ concurrency: 5 })
      const [listed] = await tool.lanes('mail')
      await beta.client.lane('mail').unlimit()
      const resumed = await beta.client.lane('mail').resume()
      await acme.elapse(100)

      expect(others.seen.starts).toBe(6)
      expect(ofAcme.starts).toBe(2)
      expect(ofBeta?.limit).toBeUndefined()
      expect(unset).toMatchObject({ lane: 'mail', state: 'active', limit: { concurrency: 5 } })
      expect(resumed.limit).toBeUndefined()
      expect(listed).toMatchObject({
        limit: undefined,
        otherLimits: [
          { namespace: 'acme', rate: { count: 2 } },
          { namespace: 'beta', concurrency: 5 },
        ],
      })
      const why = await Promise.all(waiting.map((execution) => execution.why()))
      expect(why.filter(({ text }) => text.includes("lane 'mail' in the namespace 'acme': 2 of 2"))).toHaveLength(2)

      // A tool of operators names the namespace.
      await tool.lane('mail').unlimit({ namespace: 'acme' })
      await acme.until(Promise.all(waiting.map((execution) => execution.result())))
      await expect(beta.client.lane('mail').unlimit({ namespace: 'acme' })).rejects.toThrow('bound to "beta"')
    })

    test('is changed live, says what blocks, and starts everything once the limit is removed', async () => {
      await using working = new Working(fabric)
      const { seen, startOf, tasks, handlers } = twoTasks()
      const lane = working.client.lane('mail')
      await lane.limit({ rate: { count: 2, per: '1h' } })
      const executions = await submitAll(working, tasks, 6)
      const second = startOf(2)
      working.work(handlers)
      working.maintain()
      await working.until(second)
      const blocked = async () => (await working.client.lanes('mail'))[0]?.counts.rate_limited
      for (let tick = 0; tick < 500 && (await blocked()) !== 10; tick++) await working.elapse(5)
      const waiting = await Promise.all(executions.map((execution) => execution.why()))
      expect(waiting.filter(({ text }) => text.includes("for the limit of lane 'mail': 2 of 2"))).toHaveLength(10)
      expect(await working.client.lanes('mail')).toMatchObject([
        { limit: { rate: { count: 2, windowMs: 3_600_000 } }, counts: { rate_limited: 10 } },
      ])

      const fifth = startOf(5)
      await lane.limit({ rate: { count: 5, per: '1h' } })
      await working.until(fifth)
      await working.elapse(50)
      expect(seen.starts).toBe(5)

      expect(await lane.unlimit()).toMatchObject({ limit: undefined })
      await working.until(Promise.all(executions.map((execution) => execution.result())))
      expect(await lane.unlimit()).toMatchObject({ limit: undefined })
    })
  })
})
