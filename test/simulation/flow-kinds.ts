/** Work of several parts: one kind of flow for each way in which a graph's life can go, and the tasks of its nodes. */
import { PermanentError, allOf, anyOf, ended, flow, quorum, upstream } from '../../src/client/index.ts'
import type { FlowBuilder, FlowDefinition, FlowHandleCancelOptions, FlowNode } from '../../src/client/index.ts'
import type { Outcome } from '../../src/kernel/index.ts'
import { brief, kind, obey } from './kind.ts'
import type { Kind, Work } from './kind.ts'

const ANY_END: readonly Outcome[] = ['completed', 'failed', 'cancelled', 'skipped']

const step = kind('step', { outcomes: ANY_END })
const dawdle = kind('dawdle', { outcomes: ANY_END }, (scene) => obey(scene, 2_200))
const stumble = kind('stumble', { outcomes: ANY_END }, async (scene) => {
  await brief(scene)
  if (scene.context.attempt === 1) throw new PermanentError('It fails the first time.')
})
/** Adds to its own flow while it runs, and waits for what it added without holding a worker. */
const branch = kind('branch', { outcomes: ANY_END }, async ({ context }) => {
  await context.flow.add('leaf_1', step.task, { name: 'leaf_1' })
  await context.flow.add('leaf_2', step.task, { name: 'leaf_2' }, { after: allOf(context.flow.member('leaf_1')) })
  await context.flow.wait()
})

/** Tasks that only nodes have. */
export const memberKinds: readonly Kind[] = [step, dawdle, stumble, branch]

export type FlowAfterwards =
  | { readonly kind: 'nothing' | 'wait' }
  /** It is submitted so often under one id, each time to run once more after the present run. */
  | { readonly kind: 'follow'; readonly count: number }
  | { readonly kind: 'cancel'; readonly afterMs: number; readonly options: FlowHandleCancelOptions }
  /** A node that failed is replayed, with all that was skipped after it. */
  | { readonly kind: 'replay'; readonly node: string }

export interface FlowKind {
  readonly name: string
  /** How its graph comes about: it is submitted as a whole, or put together step by step by its client. */
  readonly flow: FlowDefinition<Work, unknown> | 'assembled'
  readonly then: FlowAfterwards
  /** How each node may end, whatever befalls the fleet; all others complete. */
  readonly ends: Readonly<Record<string, readonly Outcome[]>>
  readonly outcomes: readonly ('completed' | 'failed' | 'cancelled')[]
  readonly retentionMs: number | undefined
}

type Add = (
  name: string,
  kind: Kind,
  after?: ReturnType<typeof allOf>,
  when?: (inputs: Readonly<Record<string, unknown>>) => boolean,
) => FlowNode<string>

type Draw = (add: Add) => FlowNode<string>

interface FlowKindOptions {
  readonly then?: FlowAfterwards
  readonly ends?: FlowKind['ends']
  readonly outcomes?: FlowKind['outcomes']
  readonly retentionMs?: number
}

function flowKind(name: string, options: FlowKindOptions, draw: Draw): FlowKind {
  const { then = { kind: 'wait' }, ends = {}, outcomes = ['completed'], retentionMs } = options
  const settings = retentionMs === undefined ? {} : { retention: retentionMs }
  const definition = flow(name, settings, (f: FlowBuilder<Work>, input: Work) =>
    draw((node, { task }, after, when) => {
      const detail = { input: { name: `${input.name} ${node}` }, ...(when === undefined ? {} : { when }) }
      return f.node(node, task, after === undefined ? detail : { ...detail, after })
    }),
  )
  return { name, flow: definition, then, ends, outcomes, retentionMs }
}

/** What is kept no longer than this has to be purged, with all its members, before a world is through. */
const SHORT_FLOW_RETENTION_MS = 8_000

const lost: readonly Outcome[] = ['completed', 'cancelled']
const stopped: readonly Outcome[] = ['completed', 'cancelled']

export const flowKinds: readonly FlowKind[] = [
  flowKind('chain', {}, (add) => add('c', step, allOf(add('b', step, allOf(add('a', step)))))),
  flowKind('diamond', {}, (add) => {
    const a = add('a', step)
    const sides = [add('b', step, allOf(a)), add('c', dawdle, allOf(a))]
    return add('d', step, allOf(sides))
  }),
  flowKind('race', { ends: { quick: lost, slow: lost, slower: lost } }, (add) => {
    const start = add('start', step)
    const runners = [
      add('quick', step, allOf(start)),
      add('slow', dawdle, allOf(start)),
      add('slower', dawdle, allOf(start)),
    ]
    return add('prize', step, anyOf(runners))
  }),
  flowKind('vote', {}, (add) => {
    const voters = [add('v1', step), add('v2', dawdle), add('v3', step), add('v4', dawdle)]
    return add('count', step, quorum(2, voters, { losers: 'let_run' }))
  }),
  flowKind('mended', { then: { kind: 'replay', node: 'test' } }, (add) => {
    const build = add('build', step)
    const test = add('test', stumble, allOf(build))
    const deploy = add('deploy', step, allOf(test))
    return add('tell', step, allOf([deploy, add('docs', step, allOf(build))]))
  }),
  flowKind(
    'given_up',
    {
      ends: { test: ['completed', 'failed'], deploy: ['completed', 'skipped'], tell: ['completed', 'skipped'] },
      outcomes: ['completed', 'failed'],
    },
    (add) => add('tell', step, allOf(add('deploy', step, allOf(add('test', stumble))))),
  ),
  flowKind('reported', { ends: { test: ['completed', 'failed'] }, outcomes: ['completed', 'failed'] }, (add) => {
    const build = add('build', step)
    const test = add('test', stumble, allOf(build))
    return add('report', step, ended(build, test, add('docs', dawdle, allOf(build))))
  }),
  flowKind('forgiven', { ends: { lint: ['completed', 'failed'] } }, (add) => {
    const lint = add('lint', stumble)
    return add('ship', step, allOf(add('build', step), upstream(lint, { onFailure: 'ignore' })))
  }),
  flowKind('chosen', { ends: { left: ['skipped'], beyond: ['skipped'] } }, (add) => {
    const start = add('start', step)
    const left = add('left', step, allOf(start), ({ start: answer }) => typeof answer !== 'string')
    const right = add('right', step, allOf(start), ({ start: answer }) => typeof answer === 'string')
    add('beyond', step, allOf(left))
    return add('report', step, ended(left, right))
  }),
  flowKind('growing', {}, (add) => add('end', step, allOf(add('branch', branch)))),
  flowKind(
    'called_off',
    {
      then: { kind: 'cancel', afterMs: 900, options: { grace: 800 } },
      ends: { a: stopped, b: stopped, c: stopped, d: stopped },
      outcomes: ['completed', 'cancelled'],
    },
    (add) => {
      const a = add('a', step)
      return add('d', step, allOf([add('b', dawdle, allOf(a)), add('c', dawdle, allOf(a))]))
    },
  ),
  flowKind(
    'wound_down',
    {
      then: { kind: 'cancel', afterMs: 500, options: { policy: 'cancel_pending', wait: true } },
      ends: { a: stopped, b: stopped, c: stopped },
      outcomes: ['completed', 'cancelled'],
    },
    (add) => add('c', step, allOf(add('b', dawdle, allOf(add('a', step))))),
  ),
  flowKind('passing', { then: { kind: 'nothing' }, retentionMs: SHORT_FLOW_RETENTION_MS }, (add) =>
    add('b', step, allOf(add('a', step))),
  ),
  {
    name: 'assembled',
    flow: 'assembled',
    then: { kind: 'wait' },
    ends: {},
    outcomes: ['completed'],
    retentionMs: undefined,
  },
]

/** More edges than one call can resolve, and more members than one can cancel. Only some worlds have one: it makes all else slow. */
const WIDTH = 45

const fanOut: Draw = (add) => {
  const root = add('root', step)
  const fan = Array.from({ length: WIDTH }, (_, i) => add(`fan_${i}`, step, allOf(root)))
  return add('join', step, quorum(WIDTH - 2, fan, { losers: 'let_run' }))
}

const fanEnds = Object.fromEntries(
  ['root', 'join', ...Array.from({ length: WIDTH }, (_, i) => `fan_${i}`)].map((node) => [node, stopped]),
)

export const wideFlowKinds: readonly FlowKind[] = [
  flowKind('fan', {}, fanOut),
  flowKind(
    'wide_stop',
    {
      then: { kind: 'cancel', afterMs: 400, options: { force: true } },
      ends: fanEnds,
      outcomes: ['completed', 'cancelled'],
    },
    fanOut,
  ),
]

/** Only some worlds have one. */
export const followedFlowKinds: readonly FlowKind[] = [
  flowKind('refreshed', { then: { kind: 'follow', count: 4 } }, (add) => add('b', step, allOf(add('a', step)))),
]

/** The definitions that workers need, because they have conditions. */
export const conditionalFlows = flowKinds.flatMap(({ name, flow: one }) =>
  name === 'chosen' && one !== 'assembled' ? [one] : [],
)

export function flowKindNamed(name: string): FlowKind | undefined {
  return [...flowKinds, ...wideFlowKinds, ...followedFlowKinds].find((one) => one.name === name)
}

/** What is put together step by step: its nodes, each with those that it waits for. */
export const assembledNodes: readonly { readonly name: string; readonly after: readonly string[] }[] = [
  { name: 'first', after: [] },
  { name: 'second', after: ['first'] },
  { name: 'third', after: ['first'] },
  { name: 'last', after: ['second', 'third'] },
]

export const assembledTask = step.task

/** Ended, and not to be gone by now. */
export function isKeptLong(retentionMs: number): boolean {
  return retentionMs > SHORT_FLOW_RETENTION_MS
}
