import { expect, test } from 'vitest'
import { LIST_PAGE_MAX, LIST_SCAN_COUNT } from '../../src/kernel/index.ts'
import type { ListInput, Position } from '../../src/kernel/index.ts'
import { fixedRetry, forcedCancel, reachablePhases, transientFailure } from './given.ts'
import type { Bench } from './harness.ts'
import { conformsOnServers } from './harness.ts'

interface Pages {
  readonly ids: readonly string[]
  readonly sizes: readonly number[]
}

/** Follows the cursor to its end. */
async function listAll({ fabric }: Bench, query: Partial<ListInput> = {}): Promise<Pages> {
  const ids: string[] = []
  const sizes: number[] = []
  let cursor: Position | undefined
  do {
    const page = await fabric.run('listExecutions', { limit: LIST_PAGE_MAX, ...query, cursor })
    ids.push(...page.executions.map((execution) => execution.id))
    sizes.push(page.executions.length)
    cursor = page.cursor
  } while (cursor !== undefined && sizes.length < 100)
  return { ids, sizes }
}

const idsOf = (executions: readonly { readonly executionId: string }[]) => executions.map((one) => one.executionId)
const tag = (name: string, value: string, indexed: boolean) => ({ name, value, indexed })

conformsOnServers('listExecutions', (bench) => {
  const { fabric, flows, given, clock } = bench

  test('lists the newest first, and reads without writing', async () => {
    const created: string[] = []
    for (let i = 0; i < 5; i++) {
      created.push((await given.eligibleExecution()).executionId)
      clock.advance(1)
    }
    const before = await fabric.dump()

    const page = await fabric.run('listExecutions', { limit: 10 })

    expect(page.executions.map((execution) => execution.id)).toEqual(created.toReversed())
    expect(page).toMatchObject({ kind: 'listed', at: clock.now() })
    expect(page.cursor).toBeUndefined()
    expect(await fabric.dump()).toEqual(before)
  })

  test('of an empty partition lists nothing', async () => {
    expect(await listAll(bench)).toEqual({ ids: [], sizes: [0] })
  })

  test.each(reachablePhases)('finds a %s execution by its state, with and without its lane', async (phase) => {
    const { executionId } = await given.inPhase(phase, { lane: 'searched' })
    for (const other of reachablePhases.filter((one) => one !== phase))
      await given.inPhase(other, { lane: `lane ${other}` })
    const state = ({ eligible: 'waiting', delayed: 'delayed', active: 'active', ended: 'completed' } as const)[phase]

    expect((await listAll(bench, { state })).ids).toEqual([executionId])
    expect((await listAll(bench, { state, lane: 'searched' })).ids).toEqual([executionId])
    expect((await listAll(bench, { state, lane: 'lane' })).ids).toEqual([])
  })

  test('filters by lane, task and namespace', async () => {
    const { executionId } = await given.eligibleExecution({ lane: 'a', task: 'write', namespace: 'acme' })
    await given.eligibleExecution({ lane: 'b', task: 'read', namespace: 'other' })

    for (const query of [{ lane: 'a' }, { task: 'write' }, { namespace: 'acme' }]) {
      expect((await listAll(bench, query)).ids).toEqual([executionId])
    }
    expect((await listAll(bench, { lane: 'a', task: 'read' })).ids).toEqual([])
  })

  test.each([true, false])('filters by a tag, indexed: %s', async (indexed) => {
    const name = indexed ? 'team' : 'colour'
    const { executionId } = await given.eligibleExecution({ tags: [tag(name, 'red', indexed)] })
    await given.eligibleExecution({ tags: [tag(name, 'blue', indexed)] })
    await given.eligibleExecution()

    expect((await listAll(bench, { tag: tag(name, 'red', indexed) })).ids).toEqual([executionId])
    expect((await listAll(bench, { tag: tag(name, 're', indexed) })).ids).toEqual([])
  })

  test('joins all filters', async () => {
    const wanted = { lane: 'a', task: 'write', namespace: 'acme', tags: [tag('team', 'red', true)] }
    const { executionId } = await given.eligibleExecution(wanted)
    await given.eligibleExecution({ ...wanted, lane: 'b' })
    await given.eligibleExecution({ ...wanted, task: 'read' })
    await given.eligibleExecution({ ...wanted, namespace: 'other' })
    await given.eligibleExecution({ ...wanted, tags: [tag('team', 'blue', true)] })
    await given.delayedExecution(wanted)

    const query = {
      lane: 'a',
      task: 'write',
      namespace: 'acme',
      tag: tag('team', 'red', true),
      state: 'waiting',
    } as const
    expect((await listAll(bench, query)).ids).toEqual([executionId])
  })

  test('filters by several states and tasks, all of several tags, error, key and time of the end', async () => {
    const both = [tag('team', 'red', true), tag('plan', 'pro', false)]
    const failed = await given.endedExecution('failed', { task: 'write', tags: both, key: 'order:17' })
    const failedAt = clock.now()
    clock.advance(1_000)
    const cancelled = await given.endedExecution('cancelled', { task: 'read', tags: both.slice(0, 1), key: 'order:2' })
    clock.advance(1_000)
    const waiting = await given.eligibleExecution({ task: 'sort', tags: both.slice(1), key: 'bill:17' })
    const failedId = failed.executionId

    const found = async (query: Partial<ListInput>) => (await listAll(bench, query)).ids
    expect(await found({ state: ['failed', 'cancelled'] })).toEqual(idsOf([cancelled, failed]))
    expect(await found({ state: ['failed', 'cancelled'], lane: 'main' })).toEqual(idsOf([cancelled, failed]))
    expect(await found({ task: ['sort', 'write'] })).toEqual(idsOf([waiting, failed]))
    expect(await found({ tag: both })).toEqual([failedId])
    expect(await found({ tag: both.toReversed() })).toEqual([failedId])
    expect(await found({ error: 'permanent' })).toEqual([failedId])
    expect(await found({ error: 'perm' })).toEqual([])
    expect(await found({ keyPrefix: 'order:' })).toEqual(idsOf([cancelled, failed]))
    expect(await found({ endedTo: failedAt })).toEqual([failedId])
    expect(await found({ endedFrom: failedAt, endedTo: failedAt })).toEqual([failedId])
    expect(await found({ endedFrom: failedAt + 1 })).toEqual([cancelled.executionId])
  })

  test('lists the members of one flow, filtered, page by page', async () => {
    const names = Array.from({ length: 9 }, (_, i) => `node-${i}`)
    const graph = await flows.graph(Object.fromEntries(names.map((name) => [name, []])))
    await flows.graph({ other: [] })
    const first = graph.id('node-0')
    await fabric.run('cancelExecution', { executionId: first, ...forcedCancel })

    const whole = await listAll(bench, { flowId: graph.flowId, limit: 4 })
    expect(whole.ids.toSorted()).toEqual(names.map((name) => graph.id(name)).toSorted())
    expect((await listAll(bench, { flowId: graph.flowId, state: 'cancelled' })).ids).toEqual([first])
    expect((await listAll(bench, { flowId: graph.flowId, state: 'waiting' })).ids).toHaveLength(8)
  })

  test('filters by time of creation, both ends included', async () => {
    const created: { id: string; at: number }[] = []
    for (let i = 0; i < 5; i++) {
      created.push({ id: (await given.eligibleExecution()).executionId, at: clock.now() })
      clock.advance(10)
    }
    const between = await listAll(bench, { createdFrom: created[1]!.at, createdTo: created[3]!.at })

    expect(between.ids).toEqual([created[3]!.id, created[2]!.id, created[1]!.id])
    expect((await listAll(bench, { createdFrom: created[3]!.at + 1 })).ids).toEqual([created[4]!.id])
    expect((await listAll(bench, { createdTo: created[0]!.at })).ids).toEqual([created[0]!.id])
    expect((await listAll(bench, { createdTo: created[0]!.at - 1 })).ids).toEqual([])
  })

  test('pages through hundreds of one millisecond without a gap and without a duplicate', async () => {
    const submitted = await given.executions(3 * LIST_SCAN_COUNT + 17)

    for (const limit of [7, 100, LIST_PAGE_MAX]) {
      const { ids } = await listAll(bench, { limit })
      expect(ids).toEqual(idsOf(submitted).toSorted().toReversed())
    }
  })

  test('pages by time and cursor together', async () => {
    const from = clock.now()
    const submitted = await given.executions(30)
    clock.advance(1)
    await given.executions(5)

    const { ids, sizes } = await listAll(bench, { limit: 10, createdFrom: from, createdTo: from })

    expect(ids).toEqual(idsOf(submitted).toSorted().toReversed())
    expect(sizes.slice(0, 3)).toEqual([10, 10, 10])
  })

  test('pages through an indexed tag and through one state of a lane', async () => {
    const submitted = await given.executions(LIST_SCAN_COUNT + 30, () => ({ tags: [tag('team', 'red', true)] }))
    await given.executions(20)
    await Promise.all(submitted.map((one) => fabric.run('cancelExecution', { ...one, ...forcedCancel })))
    const expected = idsOf(submitted).toSorted().toReversed()

    expect((await listAll(bench, { limit: 90, tag: tag('team', 'red', true) })).ids).toEqual(expected)
    expect((await listAll(bench, { limit: 90, lane: 'main', state: 'cancelled' })).ids).toEqual(expected)
  })

  test('answers with a short page, even an empty one, rather than look at too many', async () => {
    const { executionId } = await given.eligibleExecution({ task: 'rare' })
    clock.advance(1)
    await given.executions(2 * LIST_SCAN_COUNT)

    const { ids, sizes } = await listAll(bench, { task: 'rare' })

    expect(ids).toEqual([executionId])
    expect(sizes).toEqual([0, 0, 1])
  })

  test('a full page has a cursor only if there is more to look at', async () => {
    await given.executions(10)

    expect((await fabric.run('listExecutions', { limit: 10 })).cursor).toBeUndefined()
    expect((await fabric.run('listExecutions', { limit: 9 })).cursor).toBeDefined()
  })

  test('gives no more than a page may hold', async () => {
    await given.executions(LIST_PAGE_MAX + 1)

    expect((await fabric.run('listExecutions', { limit: 10_000 })).executions).toHaveLength(LIST_PAGE_MAX)
  })

  test('a cursor stays good when executions change, come and go between two pages', async () => {
    const submitted = await given.executions(20, () => ({ retentionMs: 0 }))
    const order = idsOf(submitted).toSorted().toReversed()
    const first = await fabric.run('listExecutions', { limit: 10 })
    const last = first.executions.at(-1)!
    await fabric.run('cancelExecution', { executionId: last.id, ...forcedCancel })
    await fabric.run('purgeExecutions', {})
    clock.advance(1)
    await given.executions(3)

    const second = await fabric.run('listExecutions', { limit: 10, cursor: first.cursor })

    expect(second.executions.map((execution) => execution.id)).toEqual(order.slice(10))
  })

  test('keeps an execution at its place of creation through its whole life', async () => {
    const older = await given.activeExecution({ retry: fixedRetry(2, 0) })
    clock.advance(5)
    const younger = await given.eligibleExecution({ lane: 'other' })
    await fabric.run('failExecution', { ...older, ...transientFailure })
    await fabric.run('completeExecution', await given.claimOf(older))

    expect((await listAll(bench)).ids).toEqual(idsOf([younger, older]))
  })
})
