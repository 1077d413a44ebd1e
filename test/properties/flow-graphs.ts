/** Random graphs: nodes by number, edges from lower numbers to higher ones, a policy for who has something to wait for. */
import fc from 'fast-check'
import type { EdgeTolerance, GroupPolicy, Losers } from '../../src/kernel/index.ts'

export interface GraphPolicy {
  readonly policy: GroupPolicy
  readonly need: number
  readonly losers: Losers
}

export interface GraphEdge {
  readonly from: number
  readonly to: number
  readonly hands: 'nothing' | 'input' | 'payload'
  readonly onFailure?: EdgeTolerance | undefined
}

export interface Graph {
  /** One for each node. */
  readonly policies: readonly (GraphPolicy | undefined)[]
  readonly edges: readonly GraphEdge[]
}

export const anyPolicy: fc.Arbitrary<GraphPolicy> = fc.record({
  policy: fc.constantFrom('all_of' as const, 'any_of' as const, 'quorum' as const, 'ended' as const),
  need: fc.integer({ min: 1, max: 3 }),
  losers: fc.constantFrom('cancel' as const, 'let_run' as const),
})

/** Most edges need an upstream that completes. */
export const anyTolerance = fc.option(fc.constantFrom('continue' as const, 'ignore' as const), {
  freq: 3,
  nil: undefined,
})

export const anyHands = fc.constantFrom('nothing' as const, 'nothing' as const, 'input' as const, 'payload' as const)

/** Some of those between up to `maxNodes` nodes; a caller may ask for a minimum. */
export function anyGraph(maxNodes: number, minNodes = 1): fc.Arbitrary<Graph> {
  const anyNode = fc.nat({ max: maxNodes - 1 })
  return fc
    .record({
      policies: fc.array(fc.option(anyPolicy, { nil: undefined }), {
        minLength: minNodes,
        maxLength: maxNodes,
        size: 'max',
      }),
      edges: fc.array(fc.record({ from: anyNode, to: anyNode, hands: anyHands, onFailure: anyTolerance }), {
        maxLength: 2 * maxNodes,
        size: 'max',
      }),
    })
    .map(({ policies, edges }) => fitted(policies, edges))
}

/** Leaves out what a submit would refuse: loops, second edges, quorums that are never reached, ambiguous payloads. */
function fitted(policies: readonly (GraphPolicy | undefined)[], edges: readonly GraphEdge[]): Graph {
  const pairs = new Map<string, GraphEdge>()
  for (const { from, to, ...passing } of edges) {
    const [low, high] = [from % policies.length, to % policies.length].sort((a, b) => a - b) as [number, number]
    if (low !== high) pairs.set(`${low} ${high}`, { from: low, to: high, ...passing })
  }
  const kept = [...pairs.values()]
  const fits = policies.map((policy, node) => {
    const inDegree = kept.filter(({ to }) => to === node).length
    if (policy === undefined || inDegree === 0) return undefined
    return { ...policy, need: Math.min(policy.need, inDegree) }
  })
  return { policies: fits, edges: kept.map((edge, i) => withFittingHands(edge, kept.slice(0, i), fits[edge.to])) }
}

/** One result can stand in for the payload where all are waited for, any where one is enough, none where several are. */
function withFittingHands(edge: GraphEdge, earlier: readonly GraphEdge[], policy: GraphPolicy | undefined): GraphEdge {
  if (edge.hands !== 'payload') return edge
  if (edge.onFailure !== undefined || policy?.policy === 'ended') return { ...edge, hands: 'input' }
  const isFirst = !earlier.some(({ to, hands }) => to === edge.to && hands === 'payload')
  const mayHand = policy === undefined || policy.policy === 'all_of' ? isFirst : neededBy(policy) === 1
  return mayHand ? edge : { ...edge, hands: 'input' }
}

function neededBy({ policy, need }: GraphPolicy): number {
  return policy === 'quorum' ? need : 1
}

/** More than one operation can handle: a fan-out and fan-in, a long chain, or both in one. */
export const anyWideGraph: fc.Arbitrary<Graph> = fc
  .record({
    width: fc.integer({ min: 1, max: 130 }),
    length: fc.integer({ min: 0, max: 60 }),
    policy: anyPolicy,
    need: fc.integer({ min: 1, max: 130 }),
    isShared: fc.boolean(),
  })
  .map(({ width, length, policy, need, isShared }) => {
    const join = width + 1
    const fan = Array.from({ length: width }, (_, i) => i + 1)
    const policies: (GraphPolicy | undefined)[] = Array.from({ length: join + 2 + length }, () => undefined)
    policies[join] = { ...policy, need }
    // A second that waits for some of them too, so that not all who lose may be cancelled.
    const shared = isShared ? fan.filter((one) => one % 3 === 0) : []
    return fitted(policies, [
      ...fan.map((to) => ({ from: 0, to, hands: 'nothing' as const })),
      ...fan.map((from) => ({ from, to: join, hands: 'input' as const })),
      ...shared.map((from) => ({ from, to: join + 1, hands: 'input' as const })),
      ...Array.from({ length }, (_, i) => ({ from: join + 1 + i, to: join + 2 + i, hands: 'payload' as const })),
      { from: join, to: join + 1, hands: 'nothing' as const },
    ])
  })
