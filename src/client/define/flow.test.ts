import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { FLOW_EDGE_MAX, FLOW_MEMBER_MAX, IN_DEGREE_MAX } from '../../kernel/index.ts'
import { flow } from './flow.ts'
import type { FlowBuilder, FlowReturn } from './flow.ts'
import type { FlowNode } from './flow-node.ts'
import { task } from './task.ts'
import type { UpstreamOutcome } from './upstream-outcome.ts'
import { allOf, anyOf, ended, quorum, upstream } from './upstreams.ts'

const plain = task('plain')
const build = task<{ sha: string }, { image: string }>('build')
const check = task<{ kind: string }, boolean>('check')
const deploy = task<{ env: string }, string, { build: { image: string } }>('deploy')
const pick = task<undefined, string, { fast?: string; slow?: string }>('pick')
const ask = task<undefined, string>('ask')

/** What a graph's function without types may do. */
type LooseBuilder = { readonly node: (...values: unknown[]) => FlowNode }

function drawing(draw: (f: LooseBuilder) => unknown): () => unknown {
  const loose = flow('loose', (f: FlowBuilder<unknown>) => draw(f as never) as FlowReturn)
  return () => loose.draw(undefined)
}

test('a graph is drawn anew from each input, and every node knows what it waits for', () => {
  const release = flow('release', (f, input: { kinds: string[] }) => {
    const image = f.node('build', build, { input: { sha: 'f00' } })
    const checks = input.kinds.map((kind) => f.node(kind, check, { after: allOf(image), input: { kind } }))
    return f.node('deploy', deploy, { after: allOf({ build: image }, checks), input: { env: 'prod' }, priority: 3 })
  })

  const { nodes, edgeCount, results } = release.draw({ kinds: ['unit', 'e2e'] })

  expect(nodes.map((node) => [node.name, node.edges.map(({ upstream, input }) => [upstream.node, input])])).toEqual([
    ['build', []],
    ['unit', [['build', 'build']]],
    ['e2e', [['build', 'build']]],
    [
      'deploy',
      [
        ['build', 'build'],
        ['unit', 'unit'],
        ['e2e', 'e2e'],
      ],
    ],
  ])
  expect([edgeCount, results, nodes[3]?.settings]).toEqual([5, 'deploy', { priority: 3 }])
  expect(release.draw({ kinds: [] }).nodes).toHaveLength(2)
})

test("a node's input may be a function of the flow's input", () => {
  const release = flow('release', (f, _input: { sha: string; env: string }) => {
    f.node('build', build, ({ input }) => ({ sha: input.sha }))
  })

  const graph = release.draw({ sha: 'f00', env: 'prod' })

  expect(graph.nodes[0]?.input).toEqual({ sha: 'f00' })
  expect(graph.results).toBeUndefined()
})

test.each<[string, (f: LooseBuilder) => unknown]>([
  ['has no nodes', () => undefined],
  ["two nodes of the name 'a'", (f) => [f.node('a', plain), f.node('a', plain)]],
  ['node name is ""', (f) => f.node('', plain)],
  ['which task(…) did not make', (f) => f.node('a', 'plain')],
  ['the options of node \'a\' has the unknown key "affter"', (f) => f.node('a', plain, { affter: 1 })],
  ["the options of node 'a' is 7", (f) => f.node('a', plain, 7)],
  ["after of node 'b' is [object Object]", (f) => f.node('b', plain, { after: f.node('a', plain) })],
  ['cannot be waited for', (f) => f.node('b', plain, { after: allOf('a' as never) })],
  ['cannot be waited for', (f) => f.node('b', plain, { after: allOf({ a: 'a' } as never) })],
  ["waits for 'x', which is not of this graph", (f) => f.node('b', plain, { after: allOf(strange()) })],
  ["Node 'b' waits for 'a' twice", (f) => twice(f)],
  ["Node 'c' has two inputs of the name 'b'", (f) => sameName(f)],
  ["Node 'b' waits for 3 of 1", (f) => f.node('b', plain, { after: quorum(3, [f.node('a', plain)]) })],
  ["Node 'b' waits for 1 of 0", (f) => f.node('b', plain, { after: anyOf([]) })],
  ['A quorum of 0 cannot be', (f) => f.node('b', plain, { after: quorum(0, [f.node('a', plain)]) })],
  [
    'losers is "shoot"',
    (f) => f.node('b', plain, { after: anyOf([f.node('a', plain)], { losers: 'shoot' as never }) }),
  ],
  ['inputs is "no"', (f) => f.node('a', plain, { inputs: 'no' })],
  ['returns 7, but must return', (f) => [f.node('a', plain), 7].at(1)],
  ['returns [object Object], but must return', (f) => [f.node('a', plain), strange()].at(1)],
  ['is async: do what takes time before the submit', (f) => Promise.resolve(f.node('a', plain))],
])('a graph that cannot be is refused when it is drawn: %s', (text, draw) => {
  expect(drawing(draw)).toThrow(text)
})

function strange(): FlowNode {
  let node: FlowNode | undefined
  flow('strange', (f) => void (node = f.node('x', plain))).draw(undefined)
  return node ?? expect.fail('nothing was drawn')
}

function twice(f: LooseBuilder): unknown {
  const a = f.node('a', plain)
  return f.node('b', plain, { after: allOf(a, { other: a }) })
}

function sameName(f: LooseBuilder): unknown {
  const a = f.node('a', plain)
  const b = f.node('b', plain)
  return f.node('c', plain, { after: allOf({ b: a }, b) })
}

test('a node cannot be added once the graph has been drawn', () => {
  let kept: FlowBuilder<unknown> | undefined
  flow('kept', (f) => {
    kept = f
    f.node('a', plain)
  }).draw(undefined)

  expect(() => kept?.node('b', plain)).toThrow("has been drawn: 'b' comes too late")
})

test('limits of a graph are named together with the node that is beyond them', () => {
  const nodes = (count: number) => flow('wide', (f) => range(count).forEach((i) => f.node(`n${i}`, plain)))
  const fan = (count: number) =>
    flow('fan', (f) => f.node('last', plain, { after: allOf(range(count).map((i) => f.node(`n${i}`, plain))) }))
  const edges = flow('dense', (f) => {
    const sources = range(IN_DEGREE_MAX).map((i) => f.node(`n${i}`, plain))
    for (const i of range(FLOW_EDGE_MAX / IN_DEGREE_MAX + 1)) f.node(`m${i}`, plain, { after: allOf(sources) })
  })

  expect(nodes(FLOW_MEMBER_MAX).draw(undefined).nodes).toHaveLength(FLOW_MEMBER_MAX)
  expect(() => nodes(FLOW_MEMBER_MAX + 1).draw(undefined)).toThrow(
    `With node 'n${FLOW_MEMBER_MAX}', flow 'wide' has more than ${FLOW_MEMBER_MAX} nodes.`,
  )
  expect(fan(IN_DEGREE_MAX).draw(undefined).edgeCount).toBe(IN_DEGREE_MAX)
  expect(() => fan(IN_DEGREE_MAX + 1).draw(undefined)).toThrow(`the limit is ${IN_DEGREE_MAX}`)
  expect(() => edges.draw(undefined)).toThrow(`With node 'm50', flow 'dense' has more than ${FLOW_EDGE_MAX} edges.`)
})

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i)
}

test('a wrong definition is refused by name', () => {
  expect(() => flow('', () => undefined)).toThrow('flow name is ""')
  expect(() => flow('x', 'draw' as never)).toThrow("draws the graph of flow 'x' must be a function")
  expect(() => flow('x', { outcome: 'best' as never }, () => undefined)).toThrow('outcome is "best"')
  expect(() => flow('x', { retention: 'ever' as never }, () => undefined)).toThrow('retention is "ever"')
  expect(() => flow('x', { input: {} as never }, () => undefined)).toThrow('must be a schema')
})

test("the flow's result has the type of the nodes that its function returns", () => {
  const one = flow('one', (f) => f.node('ask', ask))
  const several = flow('several', (f) => ({
    text: f.node('ask', ask),
    ok: f.node('check', check, { input: { kind: 'x' } }),
  }))
  const none = flow('none', (f) => {
    f.node('ask', ask)
  })
  const parsed = flow('parsed', { input: z.object({ at: z.coerce.number<string>() }) }, (f, input) => {
    expectTypeOf(input).toEqualTypeOf<{ at: number }>()
    return f.node('check', check, { input: { kind: String(input.at) } })
  })

  expectTypeOf<NonNullable<typeof one.types>['output']>().toEqualTypeOf<string>()
  expectTypeOf<NonNullable<typeof several.types>['output']>().toEqualTypeOf<{
    readonly text: string
    readonly ok: boolean
  }>()
  expectTypeOf<NonNullable<typeof none.types>['output']>().toEqualTypeOf<undefined>()
  expectTypeOf<NonNullable<typeof parsed.types>>().toEqualTypeOf<{
    readonly input: { at: string }
    readonly output: boolean
  }>()
})

test('what upstreams hand on must fit what a task wants, or it does not compile', () => {
  flow('typed', (f) => {
    const image = f.node('build', build, { input: { sha: 'f00' } })
    const other = f.node('other', check, { input: { kind: 'x' } })
    const named: string = 'built'
    const dynamic = f.node(named, build, { input: { sha: 'f00' } })
    f.node('by-name', deploy, { after: allOf(image, other), input: { env: 'prod' } })
    f.node('renamed', deploy, { after: allOf({ build: image }, [other]), input: { env: 'prod' } })
    f.node('free', plain, { after: allOf(image, other) })
    f.node('only-after', plain, { after: allOf(image), inputs: false })
    // @ts-expect-error -- nothing is handed on
    f.node('none', deploy, { input: { env: 'prod' } })
    // @ts-expect-error -- it is handed on under another name
    f.node('misnamed', deploy, { after: allOf({ image }), input: { env: 'prod' } })
    // @ts-expect-error -- what is handed on has another type
    f.node('mistyped', deploy, { after: allOf({ build: other }), input: { env: 'prod' } })
    // @ts-expect-error -- whether it is handed on is not known before it runs
    f.node('maybe', deploy, { after: anyOf({ build: image }), input: { env: 'prod' } })
    // @ts-expect-error -- the name is not known before it runs
    f.node('unnamed', deploy, { after: allOf(dynamic), input: { env: 'prod' } })
    // @ts-expect-error -- it wants what is not handed on
    f.node('cut-off', deploy, { after: allOf(image), inputs: false, input: { env: 'prod' } })
    // @ts-expect-error -- its input is missing
    f.node('no-input', build)
    // @ts-expect-error -- its input has another type
    f.node('wrong-input', build, { input: { sha: 7 } })
  })
})

test('a race hands on what may be missing, and a task that takes that compiles', () => {
  flow('race', (f) => {
    const fast = f.node('fast', ask)
    const slow = f.node('slow', ask)
    f.node('first', pick, { after: anyOf([fast, slow]) })
    f.node('half', pick, { after: quorum(1, { fast, slow }, { losers: 'let_run' }) })
    f.node('both', pick, { after: allOf(fast, slow) })
  })
})

test('schemas determine which results upstreams must pass, and which may be missing', () => {
  const merge = task('merge', { inputs: { count: z.coerce.number<string>(), note: z.string().optional() } })
  const counted = task<undefined, string>('counted')

  merge.handle((_input, ctx) => {
    expectTypeOf(ctx.inputs).toEqualTypeOf<{ readonly count: number; readonly note: string | undefined }>()
  })
  flow('schemas', (f) => {
    const count = f.node('count', counted)
    f.node('merge', merge, { after: allOf(count) })
    // @ts-expect-error -- a number is not what the schema takes
    f.node('merge-2', merge, { after: allOf({ count: f.node('n', check, { input: { kind: 'x' } }) }) })
  })
})

test('a node that runs whatever the outcome gets outcomes, and its types say so', () => {
  const tell = task<undefined, string, { build: UpstreamOutcome<{ image: string }>; ok: UpstreamOutcome<boolean> }>(
    'tell',
  )
  const drawn = flow('told', (f) => {
    const image = f.node('build', build, { input: { sha: 'f00' } })
    const ok = f.node('ok', check, { input: { kind: 'unit' } })
    const ignored = upstream(ok, { onFailure: 'ignore' })
    const outcomes = ended({ image, ok: ignored })
    expectTypeOf<NonNullable<typeof outcomes.types>['inputs']>().toEqualTypeOf<{
      readonly image: UpstreamOutcome<{ image: string }>
      readonly ok: UpstreamOutcome<boolean>
    }>()
    f.node('all', tell, { after: ended(image, ignored) })
    // @ts-expect-error -- a result is not an outcome
    f.node('none', tell, { after: allOf(image, ok) })
    f.node('some', plain, { after: allOf(upstream(image, { onFailure: 'fail' }), ignored) })
  }).draw(undefined)

  const edges = (i: number) => drawn.nodes[i]?.edges.map(({ upstream: { node }, onFailure }) => [node, onFailure])
  expect(drawn.nodes[2]?.policy).toEqual({ policy: 'ended' })
  expect(edges(2)).toEqual([
    ['build', undefined],
    ['ok', 'ignore'],
  ])
  expect(edges(4)).toEqual([
    ['build', undefined],
    ['ok', 'ignore'],
  ])
})

test('a condition sees the inputs of its node, with their types', () => {
  flow('typed', (f, input: { limit: number }) => {
    const image = f.node('build', build, { input: { sha: 'f00' } })
    f.node('plain', plain, {
      after: allOf({ image }),
      when: (inputs) => {
        expectTypeOf(inputs).toEqualTypeOf<{ readonly image: { image: string } }>()
        return inputs.image.image.length > input.limit
      },
    })
    f.node('deploy', deploy, {
      after: allOf(image),
      input: { env: 'x' },
      when: ({ build: { image: name } }) => name !== '',
    })
    // @ts-expect-error -- a condition is synchronous
    f.node('slow', plain, { when: () => Promise.resolve(true) })
  }).draw({ limit: 1 })
})

test('a condition that is no function, or that has no inputs to decide by, is refused', () => {
  expect(drawing((f) => f.node('a', plain, { when: true }))).toThrow('must be a function')
  expect(
    drawing((f) => f.node('b', plain, { after: allOf(f.node('a', plain)), inputs: false, when: () => true })),
  ).toThrow("Node 'b' has a condition, which decides by its inputs")
  expect(drawing((f) => f.node('b', plain, { after: allOf(upstream(f.node('a', plain), {} as never)) }))).toThrow(
    'onFailure',
  )
})
