import { expect, test } from 'vitest'
import type { LimitRef } from '../../src/kernel/index.ts'
import { LANE } from './given.ts'
import { conforms } from './harness.ts'

const refTo = (name: string, key: string, budget?: LimitRef['budget']): LimitRef => {
  return { limit: `company\u001f${name}`, key, weight: 1, instead: undefined, budget }
}

conforms('claimForWorker with budgets', ({ given }) => {
  test('an execution is the key of its own budget, which nothing else uses up before it starts', async () => {
    const { executionId } = await given.eligibleExecution({
      limits: [refTo('runs', '', 'own_inherited')],
    })

    expect(await given.claim()).toMatchObject({
      executions: [
        {
          executionId,
          isAdmitted: true,
          limits: [],
          budgets: [{ limit: 'company\u001fruns', key: executionId, isInherited: true }],
        },
      ],
    })
  })
})

conforms('createFlow with budgets', ({ flows, given }) => {
  test('a member that is added spends what its flow spends, with its own key if it has one', async () => {
    const graph = await flows.open([], { budgets: [refTo('tenants', 'acme'), refTo('all', '')] })
    await graph.add('a')
    await graph.add('b', { draft: { limits: [refTo('tenants', 'other')] } })
    const queues = ['a', 'b'].map((name) => ({ lane: LANE, class: graph.classOf(name) }))
    const claimed = await given.claim({ count: 2, queues })
    const keys = claimed.executions.map(({ node, budgets }) => [node, budgets.map(({ key }) => key)])

    expect(Object.fromEntries(keys)).toEqual({ a: ['acme', ''], b: ['other', ''] })
  })
})
