/** A caller that is bound to a namespace, and who knows the ids of executions and flows of another one. */
import { expect, test } from 'vitest'
import { Client } from '../../src/client/client.ts'
import { KeyRing, task } from '../../src/client/index.ts'
import { Tokens } from '../../src/client/tokens/token.ts'
import { silentLog } from '../../src/runtime/index.ts'
import { GivenWorker } from './given-worker.ts'
import { conforms } from './harness.ts'

const charge = task<string, string>('charge')

conforms('a namespace', ({ fabric, journal, given }) => {
  const workers = new GivenWorker(fabric)
  const keys = KeyRing.begin(0)
  const clientOf = (namespace: string, allNamespaces = false) =>
    new Client(fabric.store, fabric.runtime, {
      namespace,
      allNamespaces,
      tokens: new Tokens(keys, fabric.runtime, silentLog),
    })

  /** An execution that waits at `reply` in the namespace `acme`, with a token for it. */
  const waiting = async () => {
    const held = await given.activeExecution({ namespace: 'acme' })
    const { waitpointId, generation, createdAt: openedAt, target } = await journal.opened(held, 'reply')
    await journal.wait(held, { opens: [] })
    const { executionId } = held
    return {
      id: executionId,
      token: clientOf('acme').tokens.issue({ executionId, waitpointId, target, generation, openedAt }),
    }
  }

  test('hides its executions from every call of another one that names them', async () => {
    const { id } = await waiting()
    const mallory = clientOf('mallory')
    const attacks: (() => Promise<unknown>)[] = [
      () => mallory.describe(id),
      () => mallory.why(id),
      () => mallory.signal(id, 'go'),
      () => mallory.signal(id, 'go', undefined, { waitpoint: 'reply', by: 'mallory' }),
      () => mallory.resume(id, { by: 'mallory' }),
      () => mallory.closeWaitpoint(id, 'reply', { by: 'mallory', force: true }),
      () => mallory.reissue(id, 'reply'),
      () => mallory.waitpoints(id),
      () => mallory.steps(id).next(),
      () => mallory.signals(id).next(),
      () => mallory.children(id).next(),
      () => mallory.list({ parent: id }),
      () => mallory.streams.frames(id, {}, { follow: false }).next(),
      () => mallory.streams.summary(id),
      () => mallory.streams.summaries(id, {}).next(),
      () => mallory.setTags(id, { plan: 'pro' }),
      () => mallory.changePriority(id, 1),
      () => mallory.revokeLease(id, 'gone'),
      () => mallory.replay(id),
      () => mallory.cancel(id, 'gone', { force: true }),
    ]

    for (const attack of attacks) await expect(attack()).rejects.toMatchObject({ code: 'execution_not_found' })
    expect((await fabric.look(id)).state.phase).toBe('suspended')
    const abort = new AbortController()
    const seen = mallory.eventsOf(id, { fromStart: true, signal: abort.signal }).next()
    abort.abort()
    expect((await seen).value).toBeUndefined()
    expect(await clientOf('acme').describe(id)).toMatchObject({ namespace: 'acme', state: 'suspended' })
  })

  test('hides its flows as well', async () => {
    const acme = clientOf('acme')
    const { id: flowId } = await acme.createFlow('release', {})
    const mallory = clientOf('mallory')

    for (const attack of [
      () => mallory.try.run(flowId, 'describeFlow', { flowId }),
      () => mallory.try.run(flowId, 'listFlowMembers', { flowId, limit: 10 }),
      () => mallory.try.run(flowId, 'sealFlow', { flowId }),
      () => mallory.try.run(flowId, 'setFlowTags', { flowId, set: [], remove: ['plan'] }),
    ]) {
      expect((await attack()).result).toMatchObject({ kind: 'refused', code: 'flow_not_found' })
    }
    expect((await mallory.flows()).items).toEqual([])
    expect((await acme.flows()).items).toMatchObject([{ id: flowId }])
  })

  test('does not take the token of another one, and says no more than of a token that is none', async () => {
    const { token } = await waiting()

    const refusal = { kind: 'refused', code: 'invalid_token', detail: {} }
    expect(await clientOf('mallory').try.answer(token, 'go')).toEqual(refusal)
    expect(await clientOf('acme').answer(token, 'go')).toMatchObject({ effect: 'resumed' })
  })

  test('lists only what is its own, and cannot ask for more', async () => {
    const { id } = await waiting()
    const mallory = clientOf('mallory')
    const own = await mallory.submit(charge, 'mine')

    expect((await mallory.list()).items.map((item) => item.id)).toEqual([own.id])
    expect((await mallory.waitpoints()).items).toEqual([])
    expect((await clientOf('acme').waitpoints()).items).toMatchObject([{ executionId: id }])
    await expect(mallory.list({ namespace: 'acme' })).rejects.toMatchObject({ code: 'invalid_input' })
    await expect(mallory.flows({ namespace: 'acme' })).rejects.toMatchObject({ code: 'invalid_input' })
    expect(() => mallory.subscribe({ namespace: 'acme' })).toThrow('bound to "mallory"')
  })

  test('names only its own tasks in the lanes of the store', async () => {
    const shared = { lane: 'shared' }
    await clientOf('acme').submit(charge, 'theirs', { lane: 'private' })
    await clientOf('acme').submit(task<string, string>('secret'), 'theirs', shared)
    await clientOf('mallory').submit(charge, 'mine', shared)

    const seen = async (client: Client) => (await client.lanes()).map(({ lane, tasks }) => [lane, tasks])
    expect(await seen(clientOf('mallory'))).toEqual([['shared', ['charge']]])
    expect(await seen(clientOf('acme'))).toEqual([
      ['private', ['charge']],
      ['shared', ['secret']],
    ])
    expect(await seen(clientOf('default', true))).toEqual([
      ['private', ['charge']],
      ['shared', ['charge', 'secret']],
    ])
  })

  test('explains a wait by the workers that serve it', async () => {
    const { id } = await clientOf('mallory').submit(charge, 'mine')
    await workers.register({ workerInstanceId: 'a', bootId: 'boot' }, { namespace: 'acme' })
    await workers.register({ workerInstanceId: 'b', bootId: 'boot' }, { namespace: 'mallory' })

    for (const client of [clientOf('mallory'), clientOf('default', true)]) {
      expect((await client.why(id)).text).toContain('One worker is live')
    }
  })

  test('shows an operator all of it', async () => {
    const { id } = await waiting()
    const operator = clientOf('default', true)

    expect(await operator.describe(id)).toMatchObject({ namespace: 'acme' })
    expect((await operator.list({ namespace: 'acme' })).items).toMatchObject([{ id }])
    expect((await operator.waitpoints()).items).toMatchObject([{ executionId: id }])
  })
})
