/** A worker behind a server whose budget asks: the approval of a person raises it, and the worker raises nothing else. */
import { expect, test } from 'vitest'
import { budget, partitionOf, spendingPrefixOf, task } from '../../src/client/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import { until } from '../servers/until.ts'
import { bearer, byRole, served } from './served.ts'

const asking = budget('asking', { hard: { tokens: 10 }, onBreach: 'suspend' })
const agent = task<number, string>('agent', { budgets: [asking] })
const handler = agent.handle(async (tokens, ctx) => {
  const reserved = await ctx.reserve({ tokens })
  await reserved.settle({ tokens })
  return 'done'
})

test.each(['worker', 'worker-default'])(
  'the budget of a worker with the credential %s is raised by an approval',
  async (token) => {
    const found = await served({ authenticate: byRole })
    found.fabric.engine()
    await using remote = await createFabric(found.url, { token, log: 'silent' })
    await remote.work([handler])
    const { id } = await found.fabric.submit(agent, 20)
    const isSuspended = async () => (await found.fabric.execution(id).describe()).state === 'suspended' || undefined
    await until('the execution asks', 60_000, isSuspended)

    const raise = (requestId: string, tokens = 1_000) =>
      remote.batcher.run('q:0', 'raiseBudget', {
        ...{ root: 'asking', name: 'asking', key: '', requestId, by: 'eve', reason: 'approved' },
        amounts: [{ dimension: 'tokens', value: tokens }],
      })
    await expect(raise('mine')).rejects.toMatchObject({ code: 'forbidden' })
    await expect(raise(`${id}-x.0:budget asking@1`)).rejects.toMatchObject({ code: 'forbidden' })

    const value = { amounts: { tokens: 15 } }
    await found.fabric.signal(id, 'approve', value, { waitpoint: 'budget asking', by: 'ada' })
    const end = found.fabric.execution(id, agent).result({ signal: AbortSignal.timeout(60_000) })
    expect(await end).toBe('done')
    const { keys } = await found.fabric.budgets.describe('asking')
    expect(keys[0]?.dimensions).toMatchObject([{ spent: 20, reserved: 0, hard: 25 }])

    for await (const { name, changedAt } of found.fabric.steps(id)) {
      if (name !== 'budget asking') continue
      await expect(raise(`${id}-x.0:${name}@${changedAt}`)).rejects.toMatchObject({ code: 'forbidden' })
      // The approved amount once more: an approval is worth one raise.
      await expect(raise(`${id}-x.0:${name}@${changedAt}`, 15)).rejects.toMatchObject({ code: 'forbidden' })
    }
  },
)

const wordy = budget('wordy', { hard: { tokens: 10 }, onBreach: 'suspend' })
const greedy = task<undefined, string>('greedy', { budgets: [wordy] })

test.each(['worker', 'worker-default'])(
  'the credential %s does not choose what an approval without an amount adds, and answers no question itself',
  async (token) => {
    const found = await served({ authenticate: byRole })
    found.fabric.engine()
    await using remote = await createFabric(found.url, { token, log: 'silent' })
    // It asks for little, and calls with much once a person has approved.
    let tokens = 15
    await remote.work([
      greedy.handle(async (_, ctx) => {
        const reserved = await ctx.reserve({ tokens }, { key: `of ${tokens}` })
        await reserved.settle({ tokens: 1 })
        return 'done'
      }),
    ])
    const { id } = await found.fabric.submit(greedy, undefined)
    const executionId = found.fabric.openSession().resolve(id)
    const question = async (name: string) => {
      for await (const step of found.fabric.steps(id)) if (step.name === name && step.state === 'open') return step
      return undefined
    }
    const first = await until('it asks', 20_000, () => question('budget wordy'))
    expect(first.wait).toMatchObject({ asks: { tokens: 5 } })
    expect(first.wait?.reason).toContain('An approval adds 5 tokens unless it names other amounts.')
    await expect(remote.signal(id, 'approve', undefined, { waitpoint: 'budget wordy' })).rejects.toMatchObject({
      code: 'forbidden',
    })
    const headers = bearer(token)
    const body = { name: 'approve', waitpoint: 'budget wordy' }
    expect(await found.refusal('sendSignal', { params: { id }, body, headers })).toEqual([403, 'forbidden'])

    tokens = 1_000_000
    await found.fabric.signal(id, 'approve', undefined, { waitpoint: 'budget wordy', by: 'ada' })
    // The approval adds what it was asked for. So little is left that the budget asks again, and shows the larger amount.
    const second = await until('it asks again', 20_000, () => question('budget wordy#2'))
    expect(second.wait).toMatchObject({ asks: { tokens: 1_000_000 - 15 } })
    const { keys } = await found.fabric.budgets.describe('wordy')
    expect(keys[0]?.dimensions).toMatchObject([{ hard: 15 }])
    for await (const { name, changedAt } of found.fabric.steps(id)) {
      if (name !== 'budget wordy') continue
      const { result } = await remote.batcher.run(partitionOf(executionId), 'describeExecution', { executionId })
      if (result.kind === 'refused') throw new Error('the execution is not found')
      const { createdAt, run = 0 } = result.execution
      const requestId = `${spendingPrefixOf({ executionId, createdAt, run }, 0)}:${name}@${changedAt}`
      const raise = (value: number) => {
        const amounts = [{ dimension: 'tokens', value }]
        const input = { root: 'wordy', name: 'wordy', key: '', requestId, amounts }
        return remote.batcher.run('q:0', 'raiseBudget', input)
      }
      await expect(raise(99)).rejects.toMatchObject({ code: 'forbidden' })
      expect((await raise(5)).result).toMatchObject({ kind: 'already_raised' })
    }
    await found.fabric.signal(id, 'reject', undefined, { waitpoint: 'budget wordy#2', by: 'ada' })
    expect((await found.fabric.execution(id).describe()).state).not.toBe('completed')
  },
)

test('a question whose reason hides what it adds is refused', async () => {
  const found = await served({ authenticate: byRole })
  await using remote = await createFabric(found.url, { token: 'worker', log: 'silent' })
  const { id } = await found.fabric.submit(greedy, undefined)
  const executionId = found.fabric.openSession().resolve(id)
  const fence = { leaseId: 'l', epoch: 1, attempt: 1 }
  const wait = { executionId, fence, stepKind: 'wait' as const, name: 'budget wordy', nodes: [], opens: [] }
  const hidden = { ...wait, reason: 'please', onTimeout: 'resume' as const, asks: [{ dimension: 'tokens', value: 5 }] }
  const partition = partitionOf(executionId)
  await expect(remote.batcher.run(partition, 'suspendExecution', hidden)).rejects.toMatchObject({
    code: 'invalid_input',
  })
})
