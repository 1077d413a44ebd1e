/** What the end of a member means for those that wait for it: all of it has happened when the end is answered. */
import { expect, test } from 'vitest'
import { chain, names, nodes } from './given-flow.ts'
import { CLASS, fixedRetry, transientFailure } from './given.ts'
import type { Graph } from './graph.ts'
import { conforms } from './harness.ts'

const diamond = { a: [], b: ['a'], c: ['a'], d: ['b', 'c'] }

conforms('the end of a member', ({ fabric, flows, given, clock }) => {
  test('releases what waited for it alone, and leaves what waits for others', async () => {
    const graph = await flows.graph(diamond)
    expect(await graph.states()).toEqual([
      'waiting',
      'waiting_dependencies',
      'waiting_dependencies',
      'waiting_dependencies',
    ])

    await graph.complete('a')
    expect(await graph.states()).toEqual(['completed', 'waiting', 'waiting', 'waiting_dependencies'])
    await graph.complete('b')
    expect(await graph.isClaimable('d')).toBe(false)
    await graph.complete('c')
    expect(await graph.state('d')).toBe('waiting')
    await graph.complete('d')

    expect((await graph.view()).state).toBe('completed')
  })

  test('that failed skips what needed it at once, and does not touch the branch beside it', async () => {
    const graph = await flows.graph(diamond)
    await graph.complete('a')

    await graph.fail('b')
    expect(await graph.states()).toEqual(['completed', 'failed', 'waiting', 'skipped'])
    expect(await graph.endOf('d')).toBe('skipped,dependency_impossible,b')
    await graph.complete('c')

    expect(await graph.state('c')).toBe('completed')
    expect(await graph.group('d')).toMatchObject({ completed: 1, failed: 1, skipped: 0, verdict: 'impossible' })
    expect((await graph.view()).state).toBe('failed')
  })

  test('hands a chain on from link to link', async () => {
    const links = names('n', 10)
    const graph = await flows.graph(chain(links))

    for (const link of links) {
      expect((await graph.states()).filter((state) => state === 'waiting')).toHaveLength(1)
      await graph.complete(link)
    }

    expect((await graph.view()).flow.counts.completed).toBe(10)
  })

  test('that failed skips the whole chain after it, each because of the one before', async () => {
    const links = names('n', 6)
    const graph = await flows.graph(chain(links))
    await graph.complete('n0')

    await graph.fail('n1')

    expect(await graph.states()).toEqual(['completed', 'failed', ...Array.from({ length: 4 }, () => 'skipped')])
    expect(await graph.endOf('n2')).toBe('skipped,dependency_impossible,n1')
    expect(await graph.endOf('n5')).toBe('skipped,dependency_impossible,n4')
    expect((await graph.view()).state).toBe('failed')
  })

  test('releases a whole fan, and the last of it releases what gathers it', async () => {
    const fan = names('w', 12)
    const graph = await flows.graph({ a: [], ...nodes(fan, ['a']), z: fan })
    await graph.complete('a')
    expect(await graph.states(...fan)).toEqual(fan.map(() => 'waiting'))

    await graph.complete(...fan.slice(1))
    expect(await graph.state('z')).toBe('waiting_dependencies')
    await graph.complete(fan[0]!)

    expect(await graph.state('z')).toBe('waiting')
  })

  test.each([
    ['failed', (graph: Graph) => graph.fail('a')],
    ['cancelled', (graph: Graph) => graph.cancelMember('a')],
    [
      'expired',
      async () => {
        clock.advance(60_000)
        await flows.drain()
      },
    ],
  ] as const)('that %s counts as a failure of the edge', async (outcome, end) => {
    const graph = await flows.graph({ a: [], b: ['a'] }, { drafts: { a: { totalTimeoutMs: 60_000 } } })

    await end(graph)

    expect(await graph.states()).toEqual([outcome, 'skipped'])
    expect(await graph.edge('a', 'b')).toBe('impossible')
    expect(await graph.group('b')).toMatchObject({ failed: 1, skipped: 0 })
  })

  test('that was skipped counts as skipped in the groups after it', async () => {
    const graph = await flows.graph({ a: [], b: ['a'], c: ['b'] })

    await graph.fail('a')

    expect(await graph.group('b')).toMatchObject({ failed: 1, skipped: 0 })
    expect(await graph.group('c')).toMatchObject({ failed: 0, skipped: 1 })
  })

  test('repeated is resolved once, and the first verdict stands', async () => {
    const graph = await flows.graph({ a: [], b: ['a'], c: ['a'] })
    const held = await graph.claim('a')
    await fabric.run('completeExecution', held)
    const before = await fabric.dump()

    const again = await fabric.run('completeExecution', held)

    expect(again.kind).toBe('already_completed')
    expect(await fabric.dump()).toEqual(before)
  })

  test('that is only a retry to come resolves nothing', async () => {
    const graph = await flows.graph({ a: [], b: ['a'] }, { drafts: { a: { retry: fixedRetry(2, 0) } } })

    await fabric.run('failExecution', { ...(await graph.claim('a')), ...transientFailure })

    expect(await graph.states()).toEqual(['waiting', 'waiting_dependencies'])
    expect(await graph.edge('a', 'b')).toBe('open')
  })

  test('hands what it has released to the same worker in the same call', async () => {
    const graph = await flows.graph({ a: [], b: ['a'] }, { class: CLASS })

    const done = await fabric.run('completeExecution', { ...(await graph.claim('a')), next: given.claimInput() })

    expect(done).toMatchObject({ kind: 'completed', next: { executions: [{ executionId: graph.id('b'), node: 'b' }] } })
  })

  test('leaves a delay of what it releases to run its time, counted from the submit', async () => {
    const graph = await flows.graph(
      { a: [], b: ['a'], c: ['a'] },
      { drafts: { b: { delayMs: 60_000 }, c: { delayMs: 10 } } },
    )
    clock.advance(1_000)

    await graph.complete('a')

    expect(await graph.states('b', 'c')).toEqual(['delayed', 'waiting'])
    clock.advance(59_000)
    await flows.drain()
    expect(await graph.state('b')).toBe('waiting')
  })

  test('skips across layers of every policy without a call in between', async () => {
    const graph = await flows.graph(
      { a: [], b: [], c: [], q: ['a', 'b', 'c'], d: ['q'], e: ['d', 'c'] },
      { policies: { q: { policy: 'quorum', need: 2, losers: 'let_run' } } },
    )

    await graph.fail('a', 'b')

    expect(await graph.states()).toEqual(['failed', 'failed', 'waiting', 'skipped', 'skipped', 'skipped'])
    expect((await graph.view()).state).toBe('running')
    await graph.complete('c')
    expect((await graph.view()).state).toBe('failed')
  })

  test('resolves every edge once when there are more than one call may resolve', async () => {
    const fan = names('w', 120)
    const graph = await flows.graph({ a: [], ...nodes(fan, ['a']) }, { class: CLASS })

    await graph.complete('a')
    const { counts } = (await graph.view()).flow
    expect(counts.waiting).toBeGreaterThan(0)
    expect(counts.waiting_dependencies).toBeGreaterThan(0)
    expect(new Set(await flows.drain())).toEqual(new Set(['edge_dispatcher']))

    expect((await graph.view()).flow.counts).toMatchObject({ waiting: 120, waiting_dependencies: 0 })
    expect(await flows.due()).toEqual([])
  })

  test('skips a fan of a fan over several calls, and the flow ends with the last of them', async () => {
    const fan = names('w', 60)
    const leaves = names('x', 60)
    const shape = Object.fromEntries(leaves.map((leaf, i) => [leaf, [fan[i]!]]))
    const graph = await flows.graph({ a: [], ...nodes(fan, ['a']), ...shape }, { class: CLASS })

    await graph.fail('a')
    await flows.drain()

    expect((await graph.view()).flow).toMatchObject({
      state: { phase: 'ended', outcome: 'failed' },
      counts: { failed: 1, skipped: 120 },
    })
  })
})
