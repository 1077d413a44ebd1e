/** What a member is given of those that it waited for: named results, or one of them as its payload. */
import { expect, test } from 'vitest'
import { CLAIM_BLOB_MAX, CLAIM_INPUT_BYTES, CLAIM_INPUT_COUNT, INPUT_PAGE_MAX } from '../../src/kernel/index.ts'
import type { ExecutionId, MemberInput } from '../../src/kernel/index.ts'
import { anyOf, anyOfLettingRun, input, names, nodes, payload } from './given-flow.ts'
import { LANE } from './given.ts'
import type { Graph } from './graph.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (blob: Uint8Array | undefined) => (blob === undefined ? undefined : new TextDecoder().decode(blob))

conforms('inputs of a member', ({ fabric, flows, given }) => {
  /** Claims a member with the bytes that came with it. */
  const claim = async (graph: Graph, name: string) => {
    const { result, blobs } = await fabric.reply(
      'claimForWorker',
      given.claimInput({ queues: [{ lane: LANE, class: graph.classOf(name) }] }),
    )
    const claimed = result.executions[0]!
    const own = claimed.payloadBlob === undefined ? undefined : text(blobs[claimed.payloadBlob])
    const inputs = Object.fromEntries(claimed.inputs.map((item) => [item.name, textOf(item, blobs)]))
    return { claimed, payload: own, inputs }
  }
  const textOf = ({ blob }: MemberInput, blobs: readonly Uint8Array[]) =>
    blob === undefined ? undefined : text(blobs[blob])

  test('carry the results of its upstreams under their names', async () => {
    const shape = { a: [], b: [], x: [], c: [input('a', 'first'), input('b', 'second'), 'x'] }
    const graph = await flows.graph(shape, { drafts: { c: { bytes: bytes('own') } } })
    await graph.completeWith('a', bytes('alpha'))
    await graph.completeWith('b', bytes('beta'))
    await graph.completeWith('x', bytes('not asked for'))

    const got = await claim(graph, 'c')

    expect(got).toMatchObject({ payload: 'own', inputs: { first: 'alpha', second: 'beta' } })
    expect(got.claimed).toMatchObject({ node: 'c', flowId: graph.flowId })
    expect(got.claimed.inputsFrom).toBeUndefined()
    expect(Object.keys(got.inputs).sort()).toEqual(['first', 'second'])
  })

  test('name an upstream that completed without a result, and give nothing for it', async () => {
    const graph = await flows.graph({ a: [], b: [input('a')] })
    await graph.complete('a')

    expect((await claim(graph, 'b')).claimed.inputs).toEqual([
      { name: 'a', upstreamId: graph.id('a'), result: undefined, blob: undefined },
    ])
  })

  test('of many members come in as many claims as their number asks for, and none is lost', async () => {
    const upstreams = names('u', 8)
    const readers = names('r', 40)
    const inputs = upstreams.map((name) => input(name))
    const graph = await flows.graph({
      ...nodes(upstreams),
      ...Object.fromEntries(readers.map((name) => [name, inputs])),
    })
    const queues = readers.map((name) => ({ lane: LANE, class: graph.classOf(name) }))
    for (const name of upstreams) await graph.completeWith(name, bytes(name))
    await flows.drain()

    const taken: string[] = []
    for (let claims = 0; claims < readers.length && taken.length < readers.length; claims++) {
      const { result, blobs } = await fabric.reply('claimForWorker', given.claimInput({ queues, count: 50 }))
      expect(blobs.length).toBeLessThanOrEqual(CLAIM_BLOB_MAX)
      for (const claimed of result.executions) {
        expect(claimed.inputs.map((item) => textOf(item, blobs)).sort()).toEqual(upstreams)
        taken.push(claimed.node ?? '')
      }
    }
    expect(taken.sort()).toEqual([...readers].sort())
  })

  test('put a result in the place of the payload, if an edge asks for it', async () => {
    const drafts = { b: { bytes: bytes('own') }, c: { bytes: bytes('own') } }
    const graph = await flows.graph({ a: [], b: [payload('a')], c: ['a'] }, { drafts })
    await graph.completeWith('a', bytes('handed'))

    expect((await claim(graph, 'b')).payload).toBe('handed')
    expect((await claim(graph, 'c')).payload).toBe('own')
  })

  test('leave the payload as it is if the upstream has no result', async () => {
    const graph = await flows.graph({ a: [], b: [payload('a')] }, { drafts: { b: { bytes: bytes('own') } } })
    await graph.complete('a')

    expect((await claim(graph, 'b')).payload).toBe('own')
  })

  test('are those of the winner: a later success changes no payload', async () => {
    const graph = await flows.graph(
      { a: [], b: [], c: [payload('a'), payload('b')] },
      { policies: { c: anyOfLettingRun } },
    )
    await graph.completeWith('b', bytes('winner'))
    await graph.completeWith('a', bytes('late'))

    expect((await claim(graph, 'c')).payload).toBe('winner')
  })

  test('are the same for every attempt', async () => {
    const graph = await flows.graph({ a: [], x: [], b: [payload('a'), input('x')] })
    await graph.completeWith('a', bytes('handed'))
    await graph.completeWith('x', bytes('named'))
    const first = await claim(graph, 'b')
    await fabric.run('releaseExecution', { executionId: graph.id('b'), fence: first.claimed.fence, reason: 'shutdown' })

    const second = await claim(graph, 'b')

    expect([second.payload, second.inputs]).toEqual(['handed', { x: 'named' }])
  })

  test('never change what has ended', async () => {
    const graph = await flows.graph(
      { a: [], b: [], c: [payload('a'), payload('b')] },
      { policies: { c: anyOfLettingRun } },
    )
    await graph.completeWith('a', bytes('winner'))
    await graph.complete('c')
    const before = await graph.look('c')

    await graph.completeWith('b', bytes('late'))

    const after = await graph.look('c')
    expect(after.member?.payloadFrom).toBe(before.member?.payloadFrom)
    expect(after.payload).toEqual(before.payload)
  })

  test('outlive a replay of the upstream, until it completes again', async () => {
    const graph = await flows.graph({ a: [], b: [input('a')], c: [input('a')] })
    await graph.completeWith('a', bytes('first'))
    await graph.replay('a')

    expect((await claim(graph, 'b')).inputs).toEqual({ a: 'first' })
    await graph.completeWith('a', bytes('second, and longer'))
    const got = await claim(graph, 'c')

    const size = got.claimed.inputs[0]?.result?.size
    expect(got.inputs['a']).toHaveLength(size ?? -1)
  })

  test('beyond what a claim hands out are read in pages, each once', async () => {
    const many = names('u', CLAIM_INPUT_COUNT + INPUT_PAGE_MAX + 5)
    const graph = await flows.graph({ ...nodes(many), z: many.map((name) => input(name)) })
    for (const name of many) await graph.completeWith(name, bytes(name))

    const { claimed, inputs } = await claim(graph, 'z')
    const got = { ...inputs }
    const sizes = [claimed.inputs.length]
    let from: ExecutionId | undefined = claimed.inputsFrom
    while (from !== undefined) {
      const { result, blobs } = await fabric.reply('readInputs', { executionId: graph.id('z'), from })
      if (result.kind !== 'read') throw new Error('the inputs cannot be read')
      for (const item of result.page.inputs) got[item.name] = textOf(item, blobs)
      sizes.push(result.page.inputs.length)
      from = result.page.from
    }

    expect(sizes).toEqual([CLAIM_INPUT_COUNT, INPUT_PAGE_MAX, 5])
    expect(got).toEqual(Object.fromEntries(many.map((name) => [name, name])))
  })

  test('that are large come one at a time, but always one', async () => {
    const graph = await flows.graph({ a: [], b: [], c: [input('a'), input('b')] })
    await graph.completeWith('a', new Uint8Array(CLAIM_INPUT_BYTES + 1))
    await graph.completeWith('b', new Uint8Array(CLAIM_INPUT_BYTES + 1))

    const { claimed } = await claim(graph, 'c')

    expect(claimed.inputs).toHaveLength(1)
    const rest = await fabric.run('readInputs', { executionId: graph.id('c'), from: claimed.inputsFrom })
    if (rest.kind === 'refused') throw new Error(rest.code)
    expect(rest.page.inputs).toMatchObject([{ result: { size: CLAIM_INPUT_BYTES + 1 } }])
    expect(rest.page.from).toBeUndefined()
  })

  test('of a group that chose are those of the edges that are satisfied', async () => {
    const graph = await flows.graph({ a: [], b: [], c: [input('a'), input('b')] }, { policies: { c: anyOf } })
    await graph.completeWith('b', bytes('beta'))

    expect((await claim(graph, 'c')).inputs).toEqual({ b: 'beta' })
  })

  test('are none of an execution without edges, and refused for what does not exist', async () => {
    const { executionId } = await given.eligibleExecution()

    expect(await fabric.run('readInputs', { executionId })).toEqual({
      kind: 'read',
      page: { inputs: [], from: undefined },
    })
    const nobody = { executionId: given.newId() }
    expect((await refusal(fabric, () => fabric.run('readInputs', nobody))).code).toBe('execution_not_found')
  })
})
