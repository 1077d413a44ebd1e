/** What can be done to flows, as words: each names one of the few flows and executions in play. See commands.ts. */
import fc from 'fast-check'
import { anyGraph, anyHands, anyPolicy, anyTolerance } from './flow-graphs.ts'

/** How many flows, and how many nodes each has when it is submitted; their executions have numbers of their own. */
export interface FlowScale {
  readonly flows: number
  readonly nodes: number
  /** Executions in all: the rest can be added to a flow. */
  readonly executions: number
}

const rarely = fc.nat({ max: 4 }).map((number) => number === 4)
const mostly = fc.nat({ max: 4 }).map((number) => number !== 4)
const graceMs = fc.constantFrom(0, 1_000, 5_000)

function command<K extends string, T>(kind: K, fields: { [F in keyof T]: fc.Arbitrary<T[F]> }) {
  return fc.record({ kind: fc.constant(kind), ...fields }) as unknown as fc.Arbitrary<
    { readonly kind: K } & Readonly<T>
  >
}

/** How a node is to run: most of them at once and for good, some late, some out of time, some again. */
const anyRun = fc.record({
  lane: fc.constantFrom('a', 'a', 'b'),
  priority: fc.constantFrom(0, 0, 1),
  attempts: fc.constantFrom(1, 1, 2),
  delayMs: fc.constantFrom(undefined, undefined, undefined, 1_000),
  totalTimeoutMs: fc.constantFrom(undefined, undefined, undefined, undefined, 20_000),
  bytes: fc.option(fc.uint8Array({ maxLength: 4 }), { nil: undefined }),
})

export type NodeRun = typeof anyRun extends fc.Arbitrary<infer R> ? R : never

/** Mostly one that may still be alive: those have numbers below zero. */
export function anyLease(reach: number): fc.Arbitrary<number> {
  const number = fc.nat({ max: reach })
  return fc.oneof({ weight: 7, arbitrary: number.map((n) => -1 - n) }, { weight: 1, arbitrary: number })
}

export function flowCommandsOver({ flows, nodes, executions }: FlowScale) {
  const flow = fc.nat({ max: flows - 1 })
  const execution = fc.nat({ max: executions - 1 })
  // Mostly one of the flow that the command names, at times any execution.
  const member = fc.oneof(
    { weight: 9, arbitrary: execution },
    { weight: 1, arbitrary: execution.map((number) => -1 - number) },
  )
  const submit = command('submit_flow', {
    flow,
    graph: anyGraph(nodes, 3),
    runs: fc.array(anyRun, { minLength: nodes, maxLength: nodes, size: 'max' }),
    outcomeRule: fc.constantFrom('all_members' as const, 'sinks' as const),
    retentionMs: fc.constantFrom(0, 30_000, 60_000),
    dedupeMs: fc.constantFrom(undefined, undefined, 60_000),
    ifExists: fc.constantFrom(...([undefined, undefined, 'join', 'reject', 'replace', 'after'] as const)),
    /** Sent in pieces, of which this is the first: so many nodes and no edge. */
    isInParts: rarely,
    isRepeated: rarely,
  })
  return {
    submit_flow: submit,
    /** Sends so much more of what was last submitted in parts; at times from a wrong place. */
    submit_more: command('submit_more', { flow, count: fc.integer({ min: 1, max: 12 }), isAstray: rarely }),
    create_flow: command('create_flow', {
      flow,
      isHeld: fc.boolean(),
      outcomeRule: fc.constantFrom('all_members' as const, 'sinks' as const),
      retentionMs: fc.constantFrom(0, 30_000),
      isRepeated: rarely,
    }),
    add_execution: command('add_execution', {
      flow,
      execution,
      isNew: mostly,
      run: anyRun,
      policy: fc.option(anyPolicy, { nil: undefined, freq: 2 }),
      after: fc.uniqueArray(fc.record({ member, hands: anyHands, onFailure: anyTolerance }), {
        maxLength: 3,
        selector: (one) => one.member,
      }),
      /** On behalf of the holder of this lease, which then waits for it or does not. */
      holder: fc.option(anyLease(executions), { nil: undefined }),
      isAwaited: mostly,
      hands: anyHands,
      onFailure: anyTolerance,
    }),
    add_dependency: command('add_dependency', {
      flow,
      upstream: member,
      downstream: member,
      hands: anyHands,
      onFailure: anyTolerance,
      isAgainstRevision: rarely,
      /** The holder of the downstream asks for it. */
      lease: fc.option(anyLease(executions), { nil: undefined, freq: 2 }),
    }),
    set_policy: command('set_policy', { flow, member, policy: anyPolicy }),
    seal_flow: command('seal_flow', { flow }),
    cancel_flow: command('cancel_flow', {
      flow,
      policy: fc.constantFrom('cancel_all' as const, 'cancel_pending' as const, 'flow_only' as const),
      isForced: fc.boolean(),
      graceMs,
    }),
    set_flow_tags: command('set_flow_tags', {
      flow,
      set: fc.array(fc.record({ name: fc.constantFrom('colour', 'team'), value: fc.constantFrom('red', '', '🟥') }), {
        maxLength: 2,
      }),
      remove: fc.subarray(['colour', 'team']),
    }),
    /** Its condition is not met, if it has one. */
    skip_execution: command('skip_execution', { lease: anyLease(executions) }),
    wait_for_children: command('wait_for_children', { lease: anyLease(executions) }),
    replay_subtree: command('replay_subtree', { flow, member, isRepeated: rarely }),
    read_inputs: command('read_inputs', { flow, member, isContinued: rarely }),
    describe_flow: command('describe_flow', { flow }),
    list_flows: command('list_flows', {
      state: fc.constantFrom(undefined, undefined, 'running', 'completed', 'cancelled' as const),
      tag: fc.constantFrom(undefined, { name: 'team', value: 'red' }),
      limit: fc.constantFrom(1, 10),
      isContinued: mostly,
    }),
    list_members: command('list_members', {
      flow,
      hasEdges: fc.boolean(),
      limit: fc.constantFrom(1, 3, 200),
      isContinued: mostly,
    }),
    list_edges: command('list_edges', {
      flow,
      member,
      direction: fc.constantFrom('inbound' as const, 'outbound' as const),
      limit: fc.constantFrom(1, 200),
      isContinued: rarely,
    }),
    reconcile_dependencies: command('reconcile_dependencies', { isContinued: mostly }),
    reconcile_sibling_cancels: command('reconcile_sibling_cancels', {}),
    reconcile_flow_cancels: command('reconcile_flow_cancels', {}),
    audit_flows: command('audit_flows', { isContinued: mostly }),
  }
}

type FlowCommands = ReturnType<typeof flowCommandsOver>

export type FlowCommand = {
  [K in keyof FlowCommands]: FlowCommands[K] extends fc.Arbitrary<infer C> ? C : never
}[keyof FlowCommands]

const weights: Partial<Record<keyof FlowCommands, number>> = {
  submit_more: 4,
  add_execution: 6,
  add_dependency: 6,
  seal_flow: 2,
  skip_execution: 5,
  wait_for_children: 6,
  replay_subtree: 5,
}

export function anyFlowCommand(commands: FlowCommands): fc.Arbitrary<FlowCommand> {
  return fc.oneof(
    ...Object.entries(commands).map(([kind, arbitrary]) => ({
      weight: weights[kind as keyof FlowCommands] ?? 1,
      arbitrary: arbitrary as fc.Arbitrary<FlowCommand>,
    })),
  )
}
