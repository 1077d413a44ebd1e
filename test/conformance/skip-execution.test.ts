/** A member whose condition is not met is skipped by its holder, and its flow applies the consequences. */
import { describe, expect, test } from 'vitest'
import { anyOf, ended, input, quorum, tolerated } from './given-flow.ts'
import { politeCancel } from './given.ts'
import { conforms } from './harness.ts'

conforms('skipExecution', ({ fabric, given, flows }) => {
  test('ends the member, and skips what needs it, without a failure of the flow', async () => {
    const graph = await flows.graph({ a: [], b: ['a'], c: ['b'], d: ['a'] }, { conditions: ['b'] })
    await graph.complete('a')

    const held = await graph.claim('b')
    expect(await fabric.run('skipExecution', held)).toEqual({ kind: 'skipped' })

    expect(await graph.endOf('b')).toBe('skipped,condition')
    expect(await graph.endOf('c')).toBe('skipped,upstream_condition,b')
    await graph.complete('d')
    expect((await graph.view()).flow).toMatchObject({
      counts: { skipped: 2, completed: 2 },
      state: { phase: 'ended', outcome: 'completed' },
    })
  })

  test('is idempotent per fence', async () => {
    const graph = await flows.graph({ a: [] }, { conditions: ['a'] })
    const held = await graph.claim('a')
    await fabric.run('skipExecution', held)

    expect(await fabric.run('skipExecution', held)).toEqual({ kind: 'already_skipped' })
    const stale = { ...held, fence: { ...held.fence, epoch: 9 } }
    expect(await fabric.run('skipExecution', stale)).toMatchObject({ kind: 'refused' })
    expect((await fabric.attemptsOf(graph.id('a'))).length).toBe(1)
  })

  test('is refused for an execution that has no condition', async () => {
    const graph = await flows.graph({ a: [] })

    expect(await fabric.run('skipExecution', await graph.claim('a'))).toMatchObject({ code: 'invalid_input' })
    expect(await fabric.run('skipExecution', await given.activeExecution())).toMatchObject({
      code: 'execution_not_in_flow',
    })
    const missing = { executionId: given.newId(), fence: { leaseId: 'l', epoch: 1, attempt: 1 } }
    expect(await fabric.run('skipExecution', missing)).toMatchObject({ code: 'execution_not_found' })
  })

  test('is refused for a member that waits for others that it has added, also if they have failed', async () => {
    const graph = await flows.graph({ a: [], b: [] }, { conditions: ['b'] })
    const held = await graph.claim('b')
    await graph.link('a', 'b', { fence: held.fence })

    expect(await fabric.run('skipExecution', held)).toMatchObject({ code: 'invalid_input' })
    await graph.fail('a')
    expect((await graph.look('b')).member?.group?.verdict).toBe('impossible')
    expect(await fabric.run('skipExecution', held)).toMatchObject({ code: 'invalid_input' })
  })

  test('applies a cancel request instead', async () => {
    const graph = await flows.graph({ a: [] }, { conditions: ['a'] })
    const held = await graph.claim('a')
    await fabric.run('cancelExecution', { executionId: graph.id('a'), ...politeCancel })

    expect(await fabric.run('skipExecution', held)).toEqual({ kind: 'cancelled' })
    expect(await fabric.run('skipExecution', held)).toEqual({ kind: 'already_cancelled' })
  })

  test('loses to an expired lease: the next holder decides', async () => {
    const graph = await flows.graph({ a: [] }, { conditions: ['a'] })
    const held = await graph.claim('a')
    await fabric.run('revokeLease', { executionId: graph.id('a'), reason: 'stuck', by: 'operator' })

    expect(await fabric.run('skipExecution', held)).toMatchObject({ kind: 'refused', code: 'lease_revoked' })
    await graph.complete('a')
    expect((await graph.view()).state).toBe('completed')
  })

  test('is known to a join that waits for ends, and to one that tolerates it', async () => {
    const graph = await flows.graph(
      { a: [], report: [input('a')], z: [tolerated('a')] },
      { conditions: ['a'], policies: { report: ended } },
    )
    await graph.skip('a')

    for (const name of ['report', 'z']) {
      expect((await graph.claimed(name)).inputs).toMatchObject([
        { name: 'a', end: { outcome: 'skipped', error: { code: 'condition' } } },
      ])
    }
    await graph.complete('report', 'z')
    expect((await graph.view()).state).toBe('completed')
  })

  describe('where only the last members count', () => {
    const flow = { outcomeRule: 'sinks' } as const

    test('is no failure, nor is what was skipped because of it', async () => {
      const graph = await flows.graph({ a: [], b: ['a'], c: ['b'] }, { conditions: ['a'], flow })
      await graph.skip('a')

      expect(await graph.endOf('c')).toBe('skipped,upstream_condition,b')
      expect((await graph.view()).flow).toMatchObject({ failedSinkCount: 0, state: { outcome: 'completed' } })
    })

    test('does not excuse the failure of another upstream', async () => {
      const graph = await flows.graph(
        { a: [], b: [], z: ['a', 'b'] },
        { conditions: ['a'], policies: { z: anyOf }, flow },
      )
      await graph.fail('b')
      await graph.skip('a')

      expect(await graph.endOf('z')).toBe('skipped,dependency_impossible,a')
      expect((await graph.view()).flow).toMatchObject({ failedSinkCount: 1, state: { outcome: 'failed' } })
    })
  })

  test('supersedes the rest of a race that it ends', async () => {
    const graph = await flows.graph(
      { a: [], b: [], c: [], z: ['a', 'b', 'c'] },
      { conditions: ['a', 'b'], policies: { z: quorum(2) } },
    )
    await graph.skip('a', 'b')

    expect(await graph.endOf('c')).toBe('cancelled,sibling_quorum_skipped,flow')
    expect((await graph.view()).flow).toMatchObject({ counts: { superseded: 1 }, state: { outcome: 'completed' } })
  })

  describe('and a replay', () => {
    test('of the member evaluates the condition again', async () => {
      const graph = await flows.graph({ a: [], b: ['a'] }, { conditions: ['a'] })
      await graph.skip('a')
      await graph.replay('a', { subtree: true })
      expect(await graph.states()).toEqual(['waiting', 'waiting_dependencies'])

      await graph.complete('a', 'b')

      expect((await graph.view()).state).toBe('completed')
    })

    test('of an upstream with its subtree waits for the new result, and then evaluates the condition again', async () => {
      const graph = await flows.graph({ a: [], b: [input('a')], c: ['b'] }, { conditions: ['b'] })
      await graph.complete('a')
      await graph.skip('b')
      await graph.replay('a', { subtree: true })
      expect(await graph.states()).toEqual(['waiting', 'waiting_dependencies', 'waiting_dependencies'])

      await graph.complete('a', 'b', 'c')

      expect((await graph.view()).flow).toMatchObject({ counts: { completed: 3 }, state: { outcome: 'completed' } })
    })
  })

  describe('a claim', () => {
    test('names the definition and sends its input until a step is recorded', async () => {
      const bytes = Buffer.from('{"limit":3}')
      const { graph, calls } = flows.draw({ a: [] }, { conditions: ['a'], flow: { name: 'release' } })
      const sent = { size: bytes.byteLength, encoding: 'json', blob: 0 } as const
      await fabric.run('submitFlow', { ...calls[0]!, input: sent }, [bytes])

      const { condition } = await graph.claimed('a')
      expect(condition).toMatchObject({ flow: 'release', input: { size: bytes.byteLength } })
      expect(condition?.inputBlob).toBeDefined()
    })

    test('of a member without a condition sends nothing of the kind', async () => {
      const graph = await flows.graph({ a: [] })

      expect((await graph.claimed('a')).condition).toBeUndefined()
    })
  })
})
