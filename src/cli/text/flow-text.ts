/** Formats one flow, without its graph, as a page for a terminal. */
import type { FlowDescription } from '../../client/index.ts'
import type { MemberView, PublicFlowState } from '../../kernel/index.ts'
import { countsText } from './collapse-levels.ts'
import { nameOf } from './flow-levels.ts'
import { isIgnored } from './ignored-failure.ts'
import { firstLine, printable } from './printable.ts'
import type { Output } from './output.ts'
import { rowsText } from './table.ts'
import type { Row } from './table.ts'
import { stateText } from './state-text.ts'
import type { Painter } from './state-text.ts'
import { timeText } from './time-text.ts'

/** The counts have no colours, unlike the graph below them. */
const PLAIN: Painter = { style: (_style, text) => text }

/** The most failures that are shown in full above the graph. */
const FAILED_SHOWN_MAX = 3

export function flowText(description: FlowDescription, failed: readonly MemberView[], output: Output): string {
  const { id, name, state } = description
  const heading = `${output.style('bold', id)} ${name} ${stateText(state, output)}`
  return [heading, rowsText([...rowsOf(description), ...failureRows(failed, state)], output)].join('\n')
}

/** The errors in full: the lines of the graph truncate them. */
function failureRows(failed: readonly MemberView[], flowState: PublicFlowState): Row[] {
  const rows = failed.slice(0, FAILED_SHOWN_MAX).map((view): Row => {
    const label = isIgnored(view, flowState) ? 'ignored' : 'failed'
    return [label, `${printable(nameOf(view))} (${view.execution.id}): ${errorOf(view.execution)}`]
  })
  const rest = failed.length - rows.length
  return rest === 0 ? rows : [...rows, ['', `and ${rest} more`]]
}

/** The error of a member that failed or expired. */
export function errorOf({ failure, state }: MemberView['execution']): string {
  if (failure !== undefined) return `${printable(failure.category)}: ${firstLine(failure.message)}`
  return state.phase === 'ended' ? firstLine(state.reason ?? state.outcome) : ''
}

function rowsOf(description: FlowDescription): Row[] {
  const { at, cancel, memberCount, edgeCount, counts } = description
  const time = (instant: number | undefined) => (instant === undefined ? undefined : timeText(instant, at))
  const tags = Object.entries(description.tags).map(([name, value]) => `${name}=${value}`)
  return [
    ['key', description.key],
    ['namespace', description.namespace],
    ['tags', tags.length === 0 ? undefined : tags.join(' ')],
    ['created', time(description.createdAt)],
    ['changed', time(description.changedAt)],
    ['ended', time(description.endedAt)],
    ['kept until', time(description.purgeAt)],
    ['removed', time(description.removedAt)],
    ['id taken until', time(description.idTakenUntil)],
    ['follow-up since', time(description.followUp?.since)],
    ['members', memberCount === 0 ? 'none' : `${memberCount}: ${countsText(counts, PLAIN)}`],
    ['edges', edgeCount === 0 ? undefined : String(edgeCount)],
    ['outcome of', description.outcomeRule === 'sinks' ? 'nodes that nothing depends on' : undefined],
    ['graph', phaseText(description)],
    ['cancelled', cancel === undefined ? undefined : `${firstLine(cancel.reason)} (${cancel.by}), ${cancel.policy}`],
    ['left to end', cancel === undefined || cancel.policy === 'flow_only' ? undefined : leftText(description)],
  ]
}

/** Why the graph is not complete yet; undefined if it is. */
function phaseText({ phase, submission, memberCount, edgeCount }: FlowDescription): string | undefined {
  switch (phase) {
    case 'held':
      if (submission === undefined) return 'held: no member runs before the flow is sealed'
      return `being submitted: ${memberCount} of ${submission.nodeCount} nodes, ${edgeCount} of ${submission.edgeCount} edges`
    case 'open':
      return 'open: members can be added, and the flow does not end before it is sealed'
    case 'sealed':
    case 'ended':
    case 'cancelled':
      return undefined
  }
}

function leftText({ liveCount }: FlowDescription): string | undefined {
  return liveCount === 0 ? undefined : String(liveCount)
}
