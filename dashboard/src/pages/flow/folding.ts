/**
 * Folds members of a flow that have the same place in its graph into one node, so that a fan-out of thousands stays a graph that a
 * person can read. Two members have the same place if they run one task, and depend on and are depended on by places that are the same.
 */
import type { FlowMember } from '../../api/types.ts'

export interface GraphNode {
  readonly id: string
  readonly members: readonly FlowMember[]
}

export interface GraphEdge {
  readonly id: string
  readonly from: string
  readonly to: string
  /** Whether an upstream has not ended yet. */
  readonly isOpen: boolean
}

export interface Graph {
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
}

/** How far the neighbourhood of a member reaches that decides about its place. */
const ROUNDS = 4
/** Smaller groups are shown member by member, if the graph has room. */
const FOLDED_FROM = [9, 3, 2] as const
/** More nodes than this are no picture any more. */
const NODES_MAX = 300

/** Returns undefined for a graph that stays too large. */
export function foldedGraph(members: readonly FlowMember[]): Graph | undefined {
  const places = placesOf(members)
  for (const foldedFrom of FOLDED_FROM) {
    const nodes = nodesOf(members, places, foldedFrom)
    if (nodes.length <= NODES_MAX) return { nodes, edges: edgesOf(nodes) }
  }
  return undefined
}

/** Starts with the tasks, and distinguishes members by the places around them until that changes nothing. */
function placesOf(members: readonly FlowMember[]): ReadonlyMap<string, string> {
  const downstreams = new Map<string, string[]>()
  for (const { id, upstreams } of members) {
    for (const upstream of upstreams) {
      const known = downstreams.get(upstream.id)
      if (known === undefined) downstreams.set(upstream.id, [id])
      else known.push(id)
    }
  }
  let places = new Map(members.map(({ id, task, dependencies }) => [id, `${task} ${dependencies?.policy ?? ''}`]))
  for (let round = 0; round < ROUNDS; round++) {
    const numbers = new Map<string, string>()
    const next = new Map<string, string>()
    for (const { id, upstreams } of members) {
      const before = distinct(upstreams.map((upstream) => places.get(upstream.id) ?? ''))
      const after = distinct((downstreams.get(id) ?? []).map((below) => places.get(below) ?? ''))
      const description = JSON.stringify([places.get(id), before, after])
      const number = numbers.get(description) ?? String(numbers.size)
      numbers.set(description, number)
      next.set(id, number)
    }
    const isStable = numbers.size === new Set(places.values()).size
    places = next
    if (isStable) break
  }
  return places
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort()
}

function nodesOf(
  members: readonly FlowMember[],
  places: ReadonlyMap<string, string>,
  foldedFrom: number,
): readonly GraphNode[] {
  const groups = Map.groupBy(members, ({ id }) => places.get(id) ?? id)
  return [...groups].flatMap(([place, group]) =>
    group.length >= foldedFrom
      ? [{ id: `place ${place}`, members: group }]
      : group.map((member) => ({ id: member.id, members: [member] })),
  )
}

function edgesOf(nodes: readonly GraphNode[]): readonly GraphEdge[] {
  const nodeOf = new Map(nodes.flatMap((node) => node.members.map(({ id }) => [id, node.id] as const)))
  const edges = new Map<string, GraphEdge>()
  for (const node of nodes) {
    for (const { upstreams } of node.members) {
      for (const upstream of upstreams) {
        const from = nodeOf.get(upstream.id)
        if (from === undefined || from === node.id) continue
        const id = `${from} to ${node.id}`
        const isOpen = upstream.isOpen || edges.get(id)?.isOpen === true
        edges.set(id, { id, from, to: node.id, isOpen })
      }
    }
  }
  return [...edges.values()]
}

/** The members that decided how long the flow took: from the last that changed, back over the upstreams that let them start. */
export function criticalPath(members: readonly FlowMember[]): ReadonlySet<string> {
  const byId = new Map(members.map((member) => [member.id, member]))
  const path = new Set<string>()
  let current = latest(members.filter(({ startedAt }) => startedAt !== undefined))
  while (current !== undefined && !path.has(current.id)) {
    path.add(current.id)
    const upstreams = current.upstreams.flatMap(({ id }) => byId.get(id) ?? [])
    current = decisive(
      current,
      upstreams.filter(({ startedAt }) => startedAt !== undefined),
    )
  }
  return path
}

/** The upstream that a member has waited for: the last one, or in a race or a quorum the one that completed what it needs. */
function decisive({ dependencies }: FlowMember, upstreams: readonly FlowMember[]): FlowMember | undefined {
  const need = dependencies?.policy === 'any_of' ? 1 : dependencies?.policy === 'quorum' ? dependencies.need : undefined
  if (need === undefined) return latest(upstreams)
  const completed = upstreams.filter(({ state }) => state === 'completed').sort((a, b) => endOf(a) - endOf(b))
  return completed[need - 1] ?? latest(upstreams)
}

function latest(members: readonly FlowMember[]): FlowMember | undefined {
  return members.reduce<FlowMember | undefined>(
    (best, member) => (best === undefined || endOf(member) > endOf(best) ? member : best),
    undefined,
  )
}

/** A member that still runs is the last. */
function endOf({ endedAt }: FlowMember): number {
  return endedAt ?? Infinity
}
