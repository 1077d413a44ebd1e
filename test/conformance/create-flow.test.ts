import { expect, test } from 'vitest'
import { names } from './given-flow.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

conforms('createFlow', ({ fabric, flows, given, clock }) => {
  test('opens a flow without members, once', async () => {
    const input = flows.createInput({ key: 'release 7', tags: [{ name: 'team', value: 'core', indexed: false }] })

    const first = await fabric.run('createFlow', input)
    const before = await fabric.dump()
    const again = await fabric.run('createFlow', input)
    const other = await fabric.run('createFlow', { ...input, requestId: given.requestId() })

    expect(first).toEqual({ kind: 'created', flowId: input.flowId, state: 'open', at: clock.now() })
    expect([again.kind, other.kind]).toEqual(['created', 'already_created'])
    expect(await fabric.dump()).toEqual(before)
    expect(before.records).toMatchObject([
      {
        type: 'flow',
        key: 'release 7',
        memberCount: 0,
        edgeCount: 0,
        state: { phase: 'open' },
        tags: [{ value: 'core' }],
      },
    ])
  })

  test('refuses another flow under the same id: another name, another namespace, one that was submitted', async () => {
    const input = flows.createInput()
    await fabric.run('createFlow', input)
    const submitted = await flows.graph({ a: [] })

    for (const other of [
      { ...input, name: 'other' },
      { ...input, namespace: 'other' },
      flows.createInput({ flowId: submitted.flowId }),
    ]) {
      expect(await refusal(fabric, () => fabric.run('createFlow', other))).toEqual({
        code: 'flow_exists',
        detail: { flowId: other.flowId },
      })
    }
  })

  test('never ends by itself while it is open: it may get more members', async () => {
    const graph = await flows.open(['a'])
    await graph.complete('a')

    expect(await graph.view()).toMatchObject({ state: 'completed', settled: false, flow: { state: { phase: 'open' } } })
    expect((await graph.add('b')).kind).toBe('added')
    expect((await graph.view()).state).toBe('running')
  })

  test('with hold lets no member run before the seal', async () => {
    const graph = await flows.held(['a', 'b'])
    await graph.add('c', { after: ['a'] })
    expect(await graph.states()).toEqual(['waiting', 'waiting', 'waiting_dependencies'])
    for (const name of ['a', 'b', 'c']) expect(await graph.isClaimable(name)).toBe(false)

    await graph.seal()

    expect(await graph.isClaimable('a')).toBe(true)
    expect(await graph.isClaimable('b')).toBe(true)
    expect(await graph.isClaimable('c')).toBe(false)
  })
})

conforms('setFlowTags', ({ fabric, flows }) => {
  const tag = (name: string, value: string) => ({ name, value, indexed: false })

  test('adds, changes and removes tags, in any state of the flow', async () => {
    const graph = await flows.graph({ a: [] }, { flow: { tags: [tag('team', 'core'), tag('rank', '1')] } })
    await graph.complete('a')
    const set = [tag('team', 'edge'), tag('area', 'eu')]

    const result = await fabric.run('setFlowTags', { flowId: graph.flowId, set, remove: ['rank', 'unknown'] })

    expect(result).toEqual({ kind: 'set', tags: [tag('area', 'eu'), tag('team', 'edge')] })
    expect((await graph.view()).flow).toMatchObject({
      tags: [{ value: 'eu' }, { value: 'edge' }],
      state: { phase: 'ended' },
    })
  })

  test('refuses a flow that does not exist, and more tags than a flow may have', async () => {
    const graph = await flows.open()
    const set = names('tag', 17).map((name) => tag(name, 'x'))

    const unknown = { flowId: flows.newId(), set: [], remove: [] }
    expect((await refusal(fabric, () => fabric.run('setFlowTags', unknown))).code).toBe('flow_not_found')
    const many = { flowId: graph.flowId, set, remove: [] }
    expect(await refusal(fabric, () => fabric.run('setFlowTags', many))).toEqual({
      code: 'invalid_input',
      detail: { flowId: graph.flowId, limit: 16 },
    })
  })
})
