/**
 * Graphs as large as they may be on the stores in memory, and on the others graphs that take many operations. No operation
 * may do more than its share of work: a store fails one that does, so arriving at the end proves it of every call on the way.
 */
import { expect, test } from 'vitest'
import { IN_DEGREE_MAX } from '../../src/kernel/index.ts'
import { chain, names, nodes } from './given-flow.ts'
import { CLASS } from './given.ts'
import { conforms } from './harness.ts'
import type { Bench } from './harness.ts'
import { refusal } from './refusal.ts'
import { conditional, memory, storeTargets } from './targets.ts'

/** A large graph takes a slow store its time. */
const PATIENCE_MS = 60_000

/** The stores that go up to the limits: operations decide about these, in the process of the test. */
const inMemory = [memory, conditional]

interface Sizes {
  /** Links of a chain that is run. */
  readonly links: number
  /** Links of a chain that is skipped. */
  readonly skipped: number
  /** Members behind one. */
  readonly released: number
  /** Members before one. */
  readonly joined: number
}

/** Each takes several pages of edges and many due passes. */
const severalPasses: Sizes = { links: 60, skipped: 200, released: 500, joined: 200 }
const largest: Sizes = { links: 300, skipped: 1_000, released: 5_000, joined: IN_DEGREE_MAX }

function largeGraphs({ links, skipped, released, joined }: Sizes): (bench: Bench) => void {
  return (bench) => {
    const { fabric, flows, given } = bench

    test(
      `a chain of ${links} runs link by link`,
      async () => {
        const graph = await flows.graph(chain(names('n', links)), { class: CLASS })
        let next = (await given.claim()).executions
        let done = 0
        while (next[0] !== undefined) {
          const { executionId, fence } = next[0]
          const answer = await fabric.run('completeExecution', { executionId, fence, next: given.claimInput() })
          next = answer.kind === 'refused' ? [] : (answer.next?.executions ?? [])
          done = done + 1
        }

        expect(done).toBe(links)
        expect((await graph.view()).state).toBe('completed')
      },
      PATIENCE_MS,
    )

    test(
      `a chain of ${skipped} is skipped from its head to its tail`,
      async () => {
        const graph = await flows.graph(chain(names('n', skipped)), { class: CLASS })

        await graph.fail('n0')
        await flows.drain()

        expect((await graph.view()).flow).toMatchObject({
          state: { phase: 'ended' },
          counts: { failed: 1, skipped: skipped - 1 },
        })
      },
      PATIENCE_MS,
    )

    test(
      `one member releases ${released}`,
      async () => {
        const graph = await flows.graph({ a: [], ...nodes(names('w', released), ['a']) }, { class: CLASS })

        await graph.complete('a')
        await flows.drain()

        expect((await graph.view()).flow.counts).toMatchObject({
          completed: 1,
          waiting: released,
          waiting_dependencies: 0,
        })
      },
      PATIENCE_MS,
    )

    test(
      `${joined} members lead to one`,
      async () => {
        const many = names('u', joined)
        const graph = await flows.graph({ ...nodes(many), z: many }, { class: CLASS })

        expect(await work(bench)).toBe(joined + 1)
        expect((await graph.view()).state).toBe('completed')
      },
      PATIENCE_MS,
    )
  }
}

/** Completes everything that can be claimed, as a worker does. Returns how many executions it completed. */
async function work({ fabric, flows, given }: Bench): Promise<number> {
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

conforms(
  'a large flow',
  largeGraphs(severalPasses),
  storeTargets.filter((target) => !inMemory.includes(target)),
)

conforms(
  'a flow at its limits',
  (bench) => {
    const { fabric, flows } = bench
    largeGraphs(largest)(bench)

    test(
      `one member more than ${IN_DEGREE_MAX} may not lead to one`,
      async () => {
        const many = names('u', IN_DEGREE_MAX + 1)
        const { calls } = flows.draw({ ...nodes(many), z: many }, { class: CLASS })
        const answers = []
        for (const call of calls.slice(0, -1)) answers.push((await fabric.run('submitFlow', call)).kind)
        expect(new Set(answers)).toEqual(new Set(['accepted']))

        const { code, detail } = await refusal(fabric, () => fabric.run('submitFlow', calls.at(-1)!))
        expect([code, detail]).toEqual(['graph_limit_exceeded', { limit: IN_DEGREE_MAX, nodes: ['z'] }])
      },
      PATIENCE_MS,
    )
  },
  inMemory,
)
