/** Random graphs from their submission to their rest, whatever the order, with calls repeated, lost and interrupted. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyGraph, anyWideGraph } from './flow-graphs.ts'
import type { Graph } from './flow-graphs.ts'
import { closureProblems, loserProblems, modelOf, outcomeIn, restProblems } from './flow-model.ts'
import { FlowRun, endsOf } from './flow-run.ts'
import type { NodeEnd, RunOptions } from './flow-run.ts'
import { runs } from './random-runs.ts'

const SMALL_RUNS = 200
const LARGE_RUNS = 20
const NODES = 9

const choices = fc.array(fc.nat({ max: 1_000 }), { minLength: 40, maxLength: 120, size: 'max' })
/** Which nodes fail when they are run: about every fifth. */
const failures = fc.array(fc.nat({ max: 4 }), { minLength: 7, maxLength: 31 })
const outcomeRule = fc.constantFrom('all_members' as const, 'sinks' as const)
const small = anyGraph(NODES, 3)

function endOf(failing: readonly number[]): (node: number) => NodeEnd {
  return (node) => (failing[node % failing.length] === 4 ? 'failed' : 'completed')
}

/** Also, the conditions of about as many nodes are not met. */
function endOrSkipOf(failing: readonly number[]): (node: number) => NodeEnd {
  const ends = endOf(failing)
  return (node) => (failing[node % failing.length] === 3 ? 'unmet' : ends(node))
}

function lettingRun({ policies, edges }: Graph): Graph {
  return { edges, policies: policies.map((policy) => policy && { ...policy, losers: 'let_run' }) }
}

async function running<T>(options: RunOptions, act: (run: FlowRun) => Promise<T>): Promise<T> {
  const run = new FlowRun(options)
  await run.fabric.open()
  try {
    await run.submit()
    return await act(run)
  } finally {
    await run.fabric.close()
  }
}

const sizes = [
  { size: 'small', graphs: small, numRuns: SMALL_RUNS, looksEvery: 1 },
  { size: 'large', graphs: anyWideGraph, numRuns: LARGE_RUNS, looksEvery: 50 },
]

test.each(sizes)(
  'without cancels, a $size graph ends by the outcomes of its nodes, in any order',
  async ({ graphs, numRuns, looksEvery }) => {
    await fc.assert(
      fc.asyncProperty(graphs, failures, outcomeRule, choices, async (drawn, failing, rule, chosen) => {
        const graph = lettingRun(drawn)
        await running({ graph, outcomeRule: rule, choices: chosen, looksEvery }, async (run) => {
          run.endOf = endOrSkipOf(failing)
          const dump = await run.comeToRest()

          expect([...run.problems, ...restProblems(dump, run.fabric.runtime.now())]).toEqual([])
          const ends = [...endsOf(run, dump)].sort(([a], [b]) => a - b).map(([, end]) => end)
          const expected = modelOf(graph, run.endOf)
          expect(ends).toEqual(expected)
          if (rule === 'sinks') return
          expect(run.flowIn(dump).state).toMatchObject({ phase: 'ended', outcome: outcomeIn(graph, expected) })
        })
      }),
      runs(numRuns),
    )
  },
)

test.each(sizes)(
  'where losers are cancelled, a $size graph comes to rest with no member skipped or cancelled without a reason',
  async ({ graphs, numRuns, looksEvery }) => {
    await fc.assert(
      fc.asyncProperty(graphs, failures, outcomeRule, choices, async (graph, failing, rule, chosen) => {
        await running({ graph, outcomeRule: rule, choices: chosen, looksEvery }, async (run) => {
          run.endOf = endOrSkipOf(failing)
          run.alsoLook = loserProblems
          const dump = await run.comeToRest()

          expect([...run.problems, ...restProblems(dump, run.fabric.runtime.now()), ...closureProblems(dump)]).toEqual(
            [],
          )
        })
      }),
      runs(numRuns),
    )
  },
)

test.each(sizes)(
  'a $size graph whose failures are replayed with what was skipped behind them ends like a first success',
  async ({ graphs, numRuns, looksEvery }) => {
    await fc.assert(
      fc.asyncProperty(graphs, failures, choices, fc.boolean(), async (drawn, failing, chosen, isPatient) => {
        const graph = lettingRun(drawn)
        await running({ graph, choices: chosen, looksEvery }, async (run) => {
          run.endOf = endOf(failing)
          const failed = await run.comeToRest()
          run.endOf = () => 'completed'
          for (const [node, end] of [...endsOf(run, failed)].sort(([a], [b]) => a - b)) {
            if (end !== 'failed') continue
            await run.replay(node)
            // Some runs see each replay to its end before the next one, others begin them all at once.
            if (isPatient) await run.comeToRest()
          }
          const dump = await run.comeToRest()

          expect([...run.problems, ...restProblems(dump, run.fabric.runtime.now())]).toEqual([])
          expect([...endsOf(run, dump).values()].filter((end) => end !== 'completed')).toEqual([])
          expect(run.flowIn(dump).state).toMatchObject({ phase: 'ended', outcome: 'completed' })
        })
      }),
      runs(numRuns),
    )
  },
)

test.each(sizes)(
  'a $size graph that is cancelled begins nothing more, keeps what has completed and comes to rest',
  async ({ graphs, numRuns, looksEvery }) => {
    const policy = fc.constantFrom('cancel_all' as const, 'cancel_pending' as const)
    await fc.assert(
      fc.asyncProperty(
        graphs,
        failures,
        choices,
        policy,
        fc.boolean(),
        async (graph, failing, chosen, cancel, force) => {
          await running({ graph, choices: chosen, looksEvery }, async (run) => {
            run.endOf = endOf(failing)
            const steps = run.choose(2 * graph.policies.length)
            for (let i = 0; i < steps; i++) await run.step()
            const before = await run.look()
            const isEnded = run.flowIn(before).state.phase === 'ended'
            const first = await run.cancel(cancel, force)
            const again = await run.cancel('flow_only', !force)
            const dump = await run.comeToRest()

            expect([...run.problems, ...restProblems(dump, run.fabric.runtime.now())]).toEqual([])
            expect(first.kind).toBe(isEnded ? 'refused' : 'cancelled')
            if (first.kind === 'refused') return
            expect(again).toMatchObject({ kind: 'already_cancelled', policy: cancel })
            const since = dump.events.slice(before.events.length)
            const told = since.filter(({ type, outcome }) => type === 'attempt_started' || outcome === 'skipped')
            expect(told).toEqual([])
            const kept = [...endsOf(run, before)].filter(([, end]) => end !== undefined)
            expect([...endsOf(run, dump)]).toEqual(expect.arrayContaining(kept))
          })
        },
      ),
      runs(numRuns),
    )
  },
)
