/**
 * Draws the graph of a flow in a terminal: level by level, one line for each member. A large graph is collapsed to counts
 * for each level and lines for the members of interest.
 */
import type { Instant, MemberView, PublicFlowState } from '../../kernel/index.ts'
import { graphOf } from './flow-levels.ts'
import { collapsedLevels } from './collapse-levels.ts'
import { memberRow } from './member-text.ts'
import type { Scene } from './member-text.ts'
import type { Painter } from './state-text.ts'
import { table } from './table.ts'

/** A graph with more members is collapsed. */
const COLLAPSE_ABOVE_COUNT = 60

export interface GraphOptions {
  readonly at: Instant
  readonly flowState: PublicFlowState
  readonly painter: Painter
  /** Draws every member, also of a large graph. */
  readonly isWhole?: boolean
}

export function isCollapsed(members: readonly MemberView[], isWhole: boolean): boolean {
  return !isWhole && members.length > COLLAPSE_ABOVE_COUNT
}

export function graphText(members: readonly MemberView[], options: GraphOptions): string {
  const { at, flowState, painter, isWhole = false } = options
  const scene = { graph: graphOf(members), at, flowState, painter }
  const lines = isCollapsed(members, isWhole) ? collapsedLines(scene) : wholeLines(scene)
  return lines.length === 0 ? '' : drawn(lines, scene)
}

/** Headings and members are attached to the vertical line on the left; `named` members to the heading above them. */
type Line =
  | { readonly kind: 'gap' }
  | { readonly kind: 'heading'; readonly text: string }
  | { readonly kind: 'member' | 'named'; readonly view: MemberView }

function wholeLines({ graph }: Scene): Line[] {
  return joined(graph.levels.map((members) => members.map((view) => ({ kind: 'member', view }))))
}

function collapsedLines({ graph, painter }: Scene): Line[] {
  return joined(
    collapsedLevels(graph, painter).map(({ heading, named }) => [
      { kind: 'heading', text: heading },
      ...named.map((view): Line => ({ kind: 'named', view })),
    ]),
  )
}

function joined(levels: readonly (readonly Line[])[]): Line[] {
  return levels.flatMap((lines, i): readonly Line[] => (i === 0 ? lines : [{ kind: 'gap' }, ...lines]))
}

function drawn(lines: readonly Line[], scene: Scene): string {
  const isStop = ({ kind }: Line) => kind === 'heading' || kind === 'member'
  const first = lines.findIndex(isStop)
  const last = lines.findLastIndex(isStop)
  const gutters = lines.map((line, i) => {
    const text = isStop(line) ? cornerOf(i, first, last) : i > last ? ' ' : '│'
    return scene.painter.style('dim', text)
  })
  const rows = lines.map((line, i) => {
    const gutter = gutters[i] ?? ''
    if (line.kind === 'gap') return [gutter]
    // A heading would widen its column.
    if (line.kind === 'heading') return []
    return memberRow(line.view, line.kind === 'member' ? `${gutter} ` : `${gutter}   `, scene)
  })
  return table(rows)
    .split('\n')
    .map((text, i) => {
      const line = lines[i]
      return line?.kind === 'heading' ? `${gutters[i] ?? ''} ${line.text}` : text
    })
    .join('\n')
}

function cornerOf(i: number, first: number, last: number): string {
  if (first === last) return '─'
  if (i === first) return '┌'
  return i === last ? '└' : '├'
}
