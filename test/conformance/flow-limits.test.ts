/**
 * Graphs as large as they may be. No operation may do more than its share of work: a store fails one that does, so that
 * arriving at the end shows it of every call on the way.
 */
import { expect, test } from 'vitest'
import { IN_DEGREE_MAX } from '../../src/kernel/index.ts'
import { chain, names, nodes } from './given-flow.ts'
import { CLASS } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

/** A large graph takes a slow store its time. */
const PATIENCE_MS = 60_000

conforms('the limits of a flow', ({ fabric, flows, given }) => {
  /** Completes everything that can be claimed, as a worker does: each completion brings the next claim. */
  const work = async () => {
    let done = 0
    for (;;) {
      const { executions } = await given.claim({ count: 50 })
      const answers = await Promise.all(
        executions.map(({ executionId, fence }) => fabric.run('completeExecution', { executionId, fence })),
      )
      done = done + answers.length
      if ((await flows.drain()).length === 0 && executions.length === 0) return done
    }
  }

  test(
    'a chain of three hundred runs link by link',
    async () => {
      const graph = await flows.graph(chain(names('n', 300)), { class: CLASS })
      let next = (await given.claim()).executions
      let done = 0
      while (next[0] !== undefined) {
        const { executionId, fence } = next[0]
        const answer = await fabric.run('completeExecution', { executionId, fence, next: given.claimInput() })
        next = answer.kind === 'refused' ? [] : (answer.next?.executions ?? [])
        done = done + 1
      }

      expect(done).toBe(300)
      expect((await graph.view()).state).toBe('completed')
    },
    PATIENCE_MS,
  )

  test(
    'a chain of a thousand is skipped from its head to its tail',
    async () => {
      const graph = await flows.graph(chain(names('n', 1_000)), { class: CLASS })

      await graph.fail('n0')
      await flows.drain()

      expect((await graph.view()).flow).toMatchObject({
        state: { phase: 'ended' },
        counts: { failed: 1, skipped: 999 },
      })
    },
    PATIENCE_MS,
  )

  test(
    'one member releases five thousand',
    async () => {
      const graph = await flows.graph({ a: [], ...nodes(names('w', 5_000), ['a']) }, { class: CLASS })

      await graph.complete('a')
      await flows.drain()

      expect((await graph.view()).flow.counts).toMatchObject({ completed: 1, waiting: 5_000, waiting_children: 0 })
    },
    PATIENCE_MS,
  )

  test(
    'a thousand lead to one, which one more may not',
    async () => {
      const many = names('u', IN_DEGREE_MAX)
      const graph = await flows.graph({ ...nodes(many), z: many }, { class: CLASS })
      const { calls } = flows.draw({ ...nodes(many), more: [], z: [...many, 'more'] }, { class: CLASS })
      const answers = []
      for (const call of calls.slice(0, -1)) answers.push((await fabric.run('submitFlow', call)).kind)
      expect(new Set(answers)).toEqual(new Set(['accepted']))

      const { code, detail } = await refusal(fabric, () => fabric.run('submitFlow', calls.at(-1)!))
      expect([code, detail]).toEqual(['graph_limit_exceeded', { limit: IN_DEGREE_MAX, nodes: ['z'] }])

      expect(await work()).toBe(IN_DEGREE_MAX + 1)
      expect((await graph.view()).state).toBe('completed')
    },
    PATIENCE_MS,
  )
})
