/** The picture of a flow, from left to right. */
import dagre from '@dagrejs/dagre'
import { Controls, Handle, MarkerType, Position, ReactFlow } from '@xyflow/react'
import type { Edge, Node, NodeProps } from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { FlowMember } from '../../api/types.ts'
import { Share } from '../../parts/share.tsx'
import { State } from '../../parts/state.tsx'
import { Text } from '../../parts/text.tsx'
import { durationText } from '../../parts/time.tsx'
import { criticalPath, foldedGraph } from './folding.ts'
import type { Graph, GraphNode } from './folding.ts'

const WIDTH_PX = 210
const HEIGHT_PX = 66
const FOLDED_HEIGHT_PX = 84
const LOWEST_PX = 220
const HIGHEST_PX = 640
/** The dashboard links to nothing outside of its server. */
const NO_LINK = { hideAttribution: true }

type Place = Node<
  { readonly members: readonly FlowMember[]; readonly isCritical: boolean; readonly choose: () => void },
  'place'
>

const nodeTypes = { place: PlaceNode }

export function FlowGraph(props: {
  readonly members: readonly FlowMember[]
  /** Called with the members of a folded node. */
  readonly onChoose: (members: readonly FlowMember[]) => void
}) {
  const { members, onChoose } = props
  const graph = useMemo(() => foldedGraph(members), [members])
  const critical = useMemo(() => criticalPath(members), [members])
  const shape = graph === undefined ? '' : shapeOf(graph)
  // The layout depends on the shape alone, so it stays while states change.
  const positions = useMemo(() => (graph === undefined ? NOWHERE : layout(graph)), [shape])
  if (graph === undefined) {
    return (
      <p className="muted note">The graph has too many different places for a picture. The members are listed below.</p>
    )
  }
  const nodes: Place[] = graph.nodes.map(({ id, members: own }) => ({
    id,
    type: 'place',
    position: positions.get(id) ?? { x: 0, y: 0 },
    data: { members: own, isCritical: own.some((member) => critical.has(member.id)), choose: () => onChoose(own) },
    draggable: false,
    connectable: false,
    focusable: false,
  }))
  const edges: Edge[] = graph.edges.map(({ id, from, to, isOpen }) => ({
    id,
    source: from,
    target: to,
    className: isOpen ? 'edge-open' : 'edge',
    markerEnd: { type: MarkerType.ArrowClosed, color: 'var(--line-strong)' },
    focusable: false,
  }))
  return (
    <div className="graph" style={{ height: heightFor(positions) }}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: 0.12 }}
        minZoom={0.05}
        nodesFocusable={false}
        edgesFocusable={false}
        proOptions={NO_LINK}
      >
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  )
}

function PlaceNode({ data: { members, isCritical, choose } }: NodeProps<Place>) {
  const [first] = members
  if (first === undefined) return null
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      {members.length === 1 ? <MemberNode member={first} isCritical={isCritical} /> : null}
      {members.length > 1 && (
        <button
          type="button"
          className="graph-node"
          data-state={worstOf(members)}
          data-critical={isCritical}
          onClick={choose}
        >
          <Text className="clip">{first.task}</Text>
          <span className="muted">
            {members.length.toLocaleString('en')} members{joinOfEach(first)}
          </span>
          <Share counts={countsOf(members)} />
        </button>
      )}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  )
}

function MemberNode({ member, isCritical }: { readonly member: FlowMember; readonly isCritical: boolean }) {
  const { id, node, task, state, startedAt, endedAt, dependencies } = member
  return (
    <Link
      to="/executions/$id"
      params={{ id }}
      className="graph-node"
      data-state={state}
      data-critical={isCritical}
      title={isCritical ? 'On the critical path' : undefined}
    >
      <Text className="clip">{node ?? task}</Text>
      <span className="graph-line">
        <State state={state} />
        <span className="muted number">
          {startedAt !== undefined && endedAt !== undefined && durationText(endedAt - startedAt)}
        </span>
      </span>
      {dependencies !== undefined && dependencies.policy !== 'all_of' && (
        <span className="muted small">{joinWords(dependencies)}</span>
      )}
    </Link>
  )
}

/** Members of one place have the same policy, each with upstreams of its own. */
function joinOfEach({ dependencies }: FlowMember): string {
  if (dependencies === undefined || dependencies.policy === 'all_of') return ''
  return dependencies.policy === 'any_of' ? ', each a race' : dependencies.policy === 'quorum' ? ', each a quorum' : ''
}

function joinWords({ policy, need, total, completed }: NonNullable<FlowMember['dependencies']>): string {
  if (policy === 'ended') return `after all ${total} have ended`
  return policy === 'any_of' ? `race of ${total}` : `${completed} of ${need} needed, among ${total}`
}

/** What a person should look at first. */
const WORST = ['failed', 'expired', 'active', 'suspended', 'waiting', 'rate_limited', 'delayed', 'waiting_dependencies']

function worstOf(members: readonly FlowMember[]): string {
  return WORST.find((state) => members.some((member) => member.state === state)) ?? members[0]?.state ?? ''
}

export function countsOf(members: readonly FlowMember[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { state } of members) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

type Positions = ReadonlyMap<string, { readonly x: number; readonly y: number }>

const NOWHERE: Positions = new Map()

function shapeOf({ nodes, edges }: Graph): string {
  return `${nodes.map(({ id }) => id).join()} ${edges.map(({ id }) => id).join()}`
}

function heightOf({ members }: GraphNode): number {
  return members.length > 1 ? FOLDED_HEIGHT_PX : HEIGHT_PX
}

/** A small graph needs no tall picture. */
function heightFor(positions: Positions): number {
  const bottom = Math.max(0, ...[...positions.values()].map(({ y }) => y))
  return Math.min(HIGHEST_PX, Math.max(LOWEST_PX, bottom + 2 * FOLDED_HEIGHT_PX + 40))
}

function layout(graph: Graph): Positions {
  const placed = new dagre.graphlib.Graph()
  placed.setGraph({ rankdir: 'LR', nodesep: 18, ranksep: 64 })
  placed.setDefaultEdgeLabel(() => ({}))
  for (const node of graph.nodes) placed.setNode(node.id, { width: WIDTH_PX, height: heightOf(node) })
  for (const { from, to } of graph.edges) placed.setEdge(from, to)
  dagre.layout(placed)
  return new Map(
    graph.nodes.map((node) => {
      const { x, y } = placed.node(node.id) as { readonly x: number; readonly y: number }
      return [node.id, { x: x - WIDTH_PX / 2, y: y - heightOf(node) / 2 }]
    }),
  )
}
