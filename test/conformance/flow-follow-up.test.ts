/** A flow that is submitted with `after` runs once more, with another graph, when its present run has finished. */
import { expect, test } from 'vitest'
import { FlowHandle } from '../../src/client/flows/flow-handle.ts'
import { allOf, flow, task } from '../../src/client/index.ts'
import { FOLLOW_UP_NODE_MAX, PAST_REQUEST_MAX } from '../../src/kernel/index.ts'
import type { SubmitFlowInput, SubmitFlowResult } from '../../src/kernel/index.ts'
import { chain, input, names, nodes, quorum } from './given-flow.ts'
import type { GraphOptions, Shape } from './given-flow.ts'
import { CLASS, LEASE_TTL_MS, RETENTION_MS } from './given.ts'
import type { Graph } from './graph.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'
import { Working } from './working.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

conforms('submitFlow after the present run', ({ fabric, flows, given, clock }) => {
  const submit = (call: SubmitFlowInput, blobs: readonly Uint8Array[] = []) => fabric.run('submitFlow', call, blobs)
  const nextOf = ({ flowId }: SubmitFlowInput) => {
    return { flowId, requestId: given.requestId(), ifExists: 'after', digest: 'next' } as const
  }
  const again = (call: SubmitFlowInput, change: Partial<SubmitFlowInput> = {}): SubmitFlowInput => {
    return { ...call, ...nextOf(call), ...change }
  }

  /** A call whose nodes have these texts as payloads, and its bytes. */
  const withPayloads = (call: SubmitFlowInput, text: string) => {
    const changed = call.nodes.map((node, blob) => {
      const payload = { blob, size: text.length, encoding: 'bytes' } as const
      return { ...node, create: { ...node.create, priority: 7, payload } }
    })
    return [{ ...call, nodes: changed }, changed.map(() => bytes(text))] as const
  }

  const payloadOf = async (graph: Graph, name: string) => {
    const { blobs } = await fabric.reply('describeExecution', { executionId: graph.id(name), payload: true })
    return new TextDecoder().decode(blobs[0])
  }

  /** A submitted flow of two nodes. */
  const running = async (options: GraphOptions = {}, shape: Shape = { a: [], b: [input('a')] }) => {
    const { graph, calls, blobs } = flows.draw(shape, options)
    for (const call of calls) await submit(call, blobs)
    if (calls.length > 1) await flows.drain()
    return { graph, call: calls[0]! }
  }

  const eventsOf = async ({ flowId }: Graph) => {
    const events = (await fabric.dump()).events.filter(({ executionId }) => String(executionId) === flowId)
    return events.map(({ type }) => type)
  }

  test('waits while the present run is under way, and changes nothing of it', async () => {
    const { graph, call } = await running({ drafts: { a: { bytes: bytes('one') } } })
    const before = (await fabric.dump()).records.filter(({ type }) => type !== 'flow')

    expect(await submit(...withPayloads(again(call), 'two'))).toMatchObject({ kind: 'follow_up', nodes: 2, edges: 1 })
    expect((await fabric.dump()).records.filter(({ type }) => type !== 'flow')).toEqual(before)
    expect((await graph.view()).flow).toMatchObject({
      submission: { digest: 'first' },
      followUp: { digest: 'next', at: clock.now() },
    })
    expect(await payloadOf(graph, 'a')).toBe('one')
    expect(await eventsOf(graph)).toEqual(['flow_created', 'flow_sealed', 'follow_up_set'])
  })

  const endings: Record<string, (graph: Graph) => Promise<void>> = {
    completed: (graph) => graph.complete('a', 'b'),
    failed: (graph) => graph.fail('a'),
    expired: async () => {
      clock.advance(LEASE_TTL_MS)
      await fabric.duePass()
    },
    'with a cancelled member': (graph) => graph.cancelMember('a'),
  }

  test.each(Object.keys(endings))('begins when the present run has ended: %s', async (ending) => {
    const drafts = { a: { bytes: bytes('one'), totalTimeoutMs: LEASE_TTL_MS } }
    const { graph, call } = await running({ drafts })
    await submit(...withPayloads(again(call), 'two'))

    await endings[ending]!(graph)
    await flows.drain()

    expect((await graph.view()).flow).toMatchObject({
      state: { phase: 'sealed' },
      submission: { digest: 'next' },
      memberCount: 2,
      followUp: undefined,
      begins: undefined,
      run: 1,
      createdAt: clock.now(),
    })
    expect(await graph.look('a')).toMatchObject({ priority: 7, run: 1, state: { phase: 'eligible' } })
    expect([await payloadOf(graph, 'a'), await payloadOf(graph, 'b')]).toEqual(['two', 'two'])
    expect((await eventsOf(graph)).slice(-4)).toEqual([
      'follow_up_set',
      'flow_ended',
      'follow_up_started',
      'flow_sealed',
    ])
    await graph.completeWith('a', bytes('result'))
    expect((await graph.claimed('b')).inputs).toMatchObject([{ name: 'a' }])
    await graph.complete('b')
    expect(await graph.view()).toMatchObject({ state: 'completed', settled: true })
    clock.advance(RETENTION_MS)
    await fabric.run('purgeExecutions', {})
    expect(await fabric.dump()).toMatchObject({ records: [], blobKeys: [] })
  })

  test('a later one takes its place, as the answer shows', async () => {
    const { graph, call } = await running()
    await submit(...withPayloads(again(call), 'two'))

    expect(await submit(...withPayloads(again(call), 'three'))).toMatchObject({ kind: 'follow_up_replaced' })
    await graph.complete('a', 'b')
    await flows.drain()
    expect(await payloadOf(graph, 'b')).toBe('three')
    await graph.complete('a', 'b')
    expect((await graph.view()).flow).toMatchObject({ state: { phase: 'ended' }, followUp: undefined })
  })

  test('a later one without payloads leaves none behind', async () => {
    const { graph, call } = await running()
    await submit(...withPayloads(again(call), 'two'))
    await submit(again(call))
    await graph.complete('a', 'b')
    await flows.drain()

    expect((await fabric.dump()).blobKeys).toEqual([])
    expect((await graph.look('a')).payload).toBeUndefined()
  })

  test('runs follow each other for as long as they are asked for, each with its own graph', async () => {
    const { graph, call } = await running()
    const small = again(call, { nodes: call.nodes.slice(0, 1), nodeCount: 1, edges: [], edgeCount: 0 })
    for (let run = 1; run <= 5; run++) {
      const next = run % 2 === 0 ? again(call) : { ...small, requestId: given.requestId() }
      await submit(...withPayloads(next, `run ${run}`))
      await (run % 2 === 0 ? graph.complete('a') : graph.complete('a', 'b'))
      await flows.drain()
      expect(await payloadOf(graph, 'a')).toBe(`run ${run}`)
      expect((await graph.view()).flow).toMatchObject({ run, memberCount: run % 2 === 0 ? 2 : 1 })
    }
    await graph.complete('a')
    expect((await eventsOf(graph)).filter((type) => type === 'flow_ended')).toHaveLength(6)
  })

  test('an absent flow begins at once', async () => {
    const { calls } = flows.draw({ a: [] })

    expect(await submit(again(calls[0]!))).toMatchObject({ kind: 'submitted', nodes: 1 })
  })

  test('a flow that has ended gives way at once, and is seen as its next run before that has members', async () => {
    const { graph, call } = await running()
    await graph.complete('a', 'b')
    const next = again(call)

    expect(await submit(next)).toMatchObject({ kind: 'submitted' })
    expect(await graph.view()).toMatchObject({ state: 'open', settled: false, flow: { run: 1, memberCount: 0 } })
    const before = await fabric.dump()
    expect(await submit(next)).toMatchObject({ kind: 'follow_up' })
    expect(await submit({ ...call, ifExists: 'after' })).toMatchObject({ kind: 'submitted' })
    expect(await fabric.dump()).toEqual(before)

    await flows.drain()
    expect((await graph.view()).flow).toMatchObject({
      state: { phase: 'sealed' },
      memberCount: 2,
      requestId: next.requestId,
    })
  })

  test('a flow that has ended begins again at once, whatever the size of the graph', async () => {
    const { graph, call } = await running()
    await graph.complete('a', 'b')
    const { calls } = flows.draw(nodes(names('w', 120)), { class: CLASS, flow: nextOf(call) })
    let result: SubmitFlowResult | undefined
    for (const next of [calls[0]!, ...calls]) {
      result = await submit(next)
      if (result.kind === 'refused') throw new Error(result.code)
    }

    expect(result).toMatchObject({ kind: 'submitted', nodes: 120 })
    expect((await graph.view()).flow).toMatchObject({ state: { phase: 'sealed' }, memberCount: 120, run: 1 })
  })

  test('an empty flow that has ended stays as it is if the graph is refused', async () => {
    const { flowId } = await flows.open([])
    await fabric.run('sealFlow', { flowId })
    const { executionId } = await given.eligibleExecution()
    const { calls } = flows.draw({ a: [] }, { flow: { flowId } })
    const taken = calls[0]!.nodes.map((node) => ({ ...node, create: { ...node.create, executionId } }))
    const before = await fabric.dump()

    expect(await submit(again(calls[0]!, { nodes: taken }))).toMatchObject({ code: 'execution_exists' })
    expect(await fabric.dump()).toEqual(before)
  })

  test('its own repetition is answered as before, also after it has begun, has ended or was displaced', async () => {
    const { graph, call } = await running()
    const [first, second] = [again(call), again(call, { digest: 'another' })]
    const repeat = async () => {
      const before = await fabric.dump()
      const answers = [await submit(first), await submit(second)]
      expect(await fabric.dump()).toEqual(before)
      return answers.map(({ kind }) => kind)
    }
    await submit(first)
    await submit(second)

    expect(await repeat()).toEqual(['submitted', 'follow_up_replaced'])
    await graph.complete('a', 'b')
    expect(await repeat()).toEqual(['submitted', 'follow_up_replaced'])
    await flows.drain()
    expect(await repeat()).toEqual(['submitted', 'submitted'])
    await submit(again(call))
    await graph.complete('a', 'b')
    await flows.drain()
    expect(await repeat()).toEqual(['submitted', 'submitted'])
    await graph.complete('a', 'b')
    expect(await repeat()).toEqual(['submitted', 'submitted'])
  })

  test('a flow remembers a bounded number of past submits', async () => {
    const { graph, call } = await running()
    for (let i = 0; i < PAST_REQUEST_MAX + 5; i++) await submit(again(call))

    expect((await graph.view()).flow.pastRequests).toHaveLength(PAST_REQUEST_MAX)
  })

  test('a cancel drops it, as its answer shows, and its repetition starts nothing', async () => {
    const { graph, call } = await running()
    await graph.claim('a')
    const next = again(call)
    await submit(...withPayloads(next, 'two'))

    expect(await graph.cancel({ force: false, graceMs: 1_000 })).toMatchObject({
      kind: 'cancelled',
      droppedFollowUp: true,
    })
    expect(await graph.cancel({ force: false })).not.toHaveProperty('droppedFollowUp')
    expect((await fabric.dump()).blobKeys).toEqual([])
    expect(await eventsOf(graph)).toContain('follow_up_dropped')
    await submit(next)
    await graph.cancel()
    await flows.drain()
    expect(await graph.view()).toMatchObject({ state: 'cancelled', settled: true })
  })

  test.each(['cancel_all', 'cancel_pending', 'flow_only'] as const)(
    'a submit after the cancel is not dropped: %s',
    async (policy) => {
      const { graph, call } = await running()
      await graph.claim('a')
      await graph.cancel({ policy, force: false, graceMs: 1_000 })
      await submit(again(call))
      await graph.complete('a')
      if (policy === 'flow_only') await graph.complete('b')
      await flows.drain()

      expect((await graph.view()).flow).toMatchObject({ state: { phase: 'sealed' }, run: 1 })
      await graph.complete('a', 'b')
      expect((await graph.view()).state).toBe('completed')
    },
  )

  test('a flow that was built step by step gives way when it ends', async () => {
    const open = await flows.open(['x'])
    const { calls, graph } = flows.draw({ a: [] }, { flow: { flowId: open.flowId } })

    expect(await submit(again(calls[0]!))).toMatchObject({ kind: 'follow_up' })
    await open.complete('x')
    expect(await flows.drain()).toEqual([])
    await open.seal()
    await flows.drain()
    expect(await graph.state('a')).toBe('waiting')
    expect(await fabric.exists(open.id('x'))).toBe(false)
  })

  test('while the earlier members are removed, the flow is seen as its follow-up, which can be joined but not cancelled', async () => {
    const { graph, call } = await running({ class: CLASS }, nodes(names('w', 130)))
    const { calls } = flows.draw({ a: [] }, { flow: nextOf(call) })
    const next = calls[0]!
    await graph.cancel({ policy: 'flow_only' })
    await submit(next)
    for (const name of names('w', 130)) await graph.cancelMember(name)
    const join = (change: Partial<SubmitFlowInput>) =>
      submit({ ...next, requestId: given.requestId(), ifExists: undefined, ...change })

    expect(await graph.view()).toMatchObject({ state: 'open', settled: false, flow: { run: 1, memberCount: 0 } })
    expect(await fabric.run('listFlowMembers', { flowId: graph.flowId, limit: 10 })).toMatchObject({ members: [] })
    expect(await join({})).toMatchObject({ kind: 'joined' })
    const refused = async (operation: () => Promise<{ kind: string }>) => (await refusal(fabric, operation)).code
    expect(await refused(() => join({ digest: 'other' }))).toBe('input_differs')
    expect(await refused(() => join({ ifExists: 'reject' }))).toBe('flow_exists')
    expect(await refused(() => join({ ifExists: 'replace' }))).toBe('flow_in_progress')
    expect(await refused(() => graph.cancel())).toBe('flow_busy')
    const before = await fabric.dump()
    expect(await submit({ ...call, ifExists: 'after' })).toMatchObject({ kind: 'submitted' })
    expect(await fabric.dump()).toEqual(before)
    const later = { ...next, requestId: given.requestId() }
    expect(await submit(later)).toMatchObject({ kind: 'follow_up_replaced' })

    expect((await flows.drain()).filter((name) => name === 'flow_follow_up').length).toBeGreaterThan(3)
    expect((await graph.view()).flow).toMatchObject({ memberCount: 1, requestId: later.requestId })
  })

  const wide = () => {
    const shape = { ...nodes(names('w', FOLLOW_UP_NODE_MAX - 2)), x: names('w', 48), y: names('w', 48) }
    return flows.draw(shape, { class: CLASS })
  }

  test('the largest graph is created over several passes, and runs when it is complete', async () => {
    const { graph, calls } = wide()
    const { call } = await running({ flow: { flowId: graph.flowId } }, { a: [] })
    const whole = { ...again(calls[0]!), flowId: call.flowId }
    expect(await submit(...withPayloads(whole, 'wide'))).toMatchObject({ kind: 'follow_up', nodes: 50, edges: 96 })
    await graphOf(call, 'a')
    await fabric.duePass()

    const { flow: partial } = await graph.view()
    expect(partial).toMatchObject({ state: { phase: 'held' } })
    expect(partial.memberCount).toBeLessThan(FOLLOW_UP_NODE_MAX)
    expect(await given.claim({ queues: [{ lane: 'lane', class: CLASS }] })).toMatchObject({ executions: [] })
    await flows.drain()
    expect((await graph.view()).flow).toMatchObject({
      state: { phase: 'sealed' },
      memberCount: 50,
      edgeCount: 96,
      begins: undefined,
    })
    expect(await graph.states('w0', 'x')).toEqual(['waiting', 'waiting_dependencies'])
    expect(await payloadOf(graph, 'y')).toBe('wide')
  })

  test('a cancel while its graph is created gives up the rest', async () => {
    const { graph, calls } = wide()
    const { call } = await running({ flow: { flowId: graph.flowId } }, { a: [] })
    await submit(...withPayloads({ ...again(calls[0]!), flowId: call.flowId }, 'wide'))
    await graphOf(call, 'a')
    await fabric.duePass()

    expect(await graph.cancel()).toMatchObject({ kind: 'cancelled' })
    await flows.drain()
    expect(await graph.view()).toMatchObject({ state: 'cancelled', settled: true, flow: { begins: undefined } })
    clock.advance(RETENTION_MS)
    for (let i = 0; i < 5; i++) await fabric.run('purgeExecutions', {})
    expect(await fabric.dump()).toMatchObject({ records: [], blobKeys: [] })
  })

  /** Completes the only member of a flow that a call submitted. */
  const graphOf = async (call: SubmitFlowInput, name: string) => {
    const node = call.nodes.find((one) => one.name === name)!
    const { executions } = await given.claim({ queues: [{ lane: node.create.lane, class: node.create.class }] })
    await fabric.run('completeExecution', { executionId: executions[0]!.executionId, fence: executions[0]!.fence })
  }

  test('refuses a graph that is too large to wait, or could not be created', async () => {
    const { graph, call } = await running()
    const large = flows.draw(nodes(names('w', FOLLOW_UP_NODE_MAX + 1)), { flow: { flowId: graph.flowId } })
    const { executionId } = await given.eligibleExecution()
    const taken = call.nodes.map((node) => ({ ...node, create: { ...node.create, executionId } }))
    const [a] = call.nodes
    const short = [a!, { ...call.nodes[1]!, policy: quorum(2) }]
    const refused = async (change: Partial<SubmitFlowInput>) =>
      (await refusal(fabric, () => submit(again(call, change)))).code

    expect(await refused({ ...large.calls[0]!, ifExists: 'after' })).toBe('graph_limit_exceeded')
    expect(await refused({ nodes: [a!], edgeCount: 1 })).toBe('graph_limit_exceeded')
    expect(await refused({ nodes: taken })).toBe('execution_exists')
    expect(await refused({ nodes: [a!], nodeCount: 1 })).toBe('execution_not_found')
    expect(await refused({ nodes: short })).toBe('unreachable_quorum')
    expect(await refused({ nodes: call.nodes.toReversed() })).toBe('cycle_detected')
  })

  test.each(['first', 'second'] as const)('races with the end of the run: the submit comes %s', async (order) => {
    const { graph, call } = await running({}, { a: [] })
    const held = await graph.claim('a')
    const next = again(call)
    const send = () => submit(next)
    const end = () => fabric.run('completeExecution', held)

    const calls: (() => Promise<unknown>)[] = order === 'first' ? [send, end] : [end, send]
    await Promise.all(calls.map((run) => run()))
    await flows.drain()
    await send()

    expect((await graph.view()).flow).toMatchObject({ state: { phase: 'sealed' }, run: 1, requestId: next.requestId })
    expect(await graph.state('a')).toBe('waiting')
  })

  test('of two that arrive together, one takes the place of the other', async () => {
    const { call } = await running()

    const results = await Promise.all([submit(again(call)), submit(again(call))])

    expect(results.map(({ kind }) => kind)).toEqual(['follow_up', 'follow_up_replaced'])
  })

  test('a chain of many members gives way too', async () => {
    const { graph, call } = await running({ class: CLASS }, chain(names('c', 60)))
    const { calls } = flows.draw({ a: [] }, { flow: nextOf(call) })
    await submit(calls[0]!)
    await graph.cancelMember('c0')
    await flows.drain()

    expect((await graph.view()).flow).toMatchObject({ memberCount: 1, edgeCount: 0, run: 1 })
    expect((await fabric.dump()).records.filter(({ type }) => type === 'edge')).toEqual([])
  })

  const part = task<{ text: string }, string>('part')
  const joined = task<{ text: string }, string, { first: string }>('joined')
  const report = flow('report', (f, { text, isShort }: { text: string; isShort: boolean }) => {
    const first = f.node('first', part, { input: { text } })
    return f.node('last', joined, { input: { text }, after: allOf(first), when: () => !isShort })
  })

  test('a client that waits gets the result of the last run, with the input of its definition', async () => {
    await using working = new Working(fabric)
    const options = { id: 'report', ifExists: 'after' } as const
    const first = await working.client.submit(report, { text: 'one', isShort: true }, options)
    const second = await working.client.submit(report, { text: 'two', isShort: false }, options)
    const third = await working.client.submit(report, { text: 'three', isShort: false }, options)

    expect([first.created, second.created, third.created]).toEqual(['created', 'follow_up', 'follow_up_replaced'])
    expect((await first.describe()).followUp).toMatchObject({ name: 'report', nodeCount: 2 })
    const awaited = [first, third, working.client.flow('report')].map((handle) => handle.result())
    working.maintain()
    working.work(
      [
        part.handle(({ text }) => Promise.resolve(`${text} part`)),
        joined.handle(({ text }, ctx) => Promise.resolve(`${ctx.inputs.first}, ${text} whole`)),
      ],
      { flows: [report] },
    )

    const whole = 'three part, three whole'
    expect(await working.until(Promise.all(awaited))).toEqual([whole, whole, { last: whole }])
    expect(await working.until(first.result())).toBe(whole)
    expect((await working.client.submit(report, { text: 'three', isShort: false }, { id: 'report' })).created).toBe(
      'joined',
    )
  })

  test.each([false, true])(
    'a client that reads results while the next run begins gets those of it (by name: %s)',
    async (byName) => {
      await using working = new Working(fabric)
      const { client } = working
      const options = { id: 'report', ifExists: 'after' } as const
      working.work(
        [
          part.handle(({ text }) => Promise.resolve(`${text} part`)),
          joined.handle(({ text }, ctx) => Promise.resolve(`${ctx.inputs.first}, ${text} whole`)),
        ],
        { flows: [report] },
      )
      const { id } = await client.submit(report, { text: 'one', isShort: false }, options)
      await working.until(client.flow(id).wait())
      let isInterrupted = false
      const describeFlow = async () => {
        const description = await client.describeFlow(id)
        if (isInterrupted) return description
        isInterrupted = true
        await client.submit(report, { text: 'two', isShort: false }, options)
        working.maintain()
        return description
      }
      const interrupted = new Proxy(client, {
        get: (target, key) => {
          if (key === 'describeFlow') return describeFlow
          const value: unknown = Reflect.get(target, key)
          return typeof value === 'function' ? (value.bind(target) as unknown) : value
        },
      })
      const graph = byName ? undefined : { results: 'last', nodes: [], edgeCount: 1 }

      const result = await working.until(new FlowHandle(interrupted, id, graph).result())
      expect(result).toEqual(byName ? { last: 'two part, two whole' } : 'two part, two whole')
    },
  )

  test('a client refuses a large graph only if it would have to wait', async () => {
    await using working = new Working(fabric)
    const large = flow('large', (f, count: number) => {
      for (let i = 0; i < count; i++) f.node(`part ${i}`, part, { input: { text: `${i}` } })
    })
    const options = { id: 'large', ifExists: 'after' } as const

    expect((await working.client.submit(large, 60, options)).created).toBe('created')
    await expect(working.client.submit(large, 61, options)).rejects.toMatchObject({
      code: 'graph_limit_exceeded',
      detail: { limit: FOLLOW_UP_NODE_MAX },
    })
    expect((await working.client.submit(large, 2, options)).created).toBe('follow_up')
  })
})
