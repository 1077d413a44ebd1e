/** The log holds each flow's life without a gap, and leads by legal steps to the state of its record. */
import type { Flow } from '../../src/kernel/index.ts'
import type { PartitionDump, StoredEvent } from '../../src/stores/store.ts'

/** How a flow stands by the log: its members have the rest. */
type Standing = 'live' | 'ended' | 'cancelled'

/** Whether an event is of a flow itself, and not of one of its members. */
export function isOfFlow({ executionId, flowId }: StoredEvent): boolean {
  return flowId === executionId
}

/** Only of a log that nothing was trimmed from. */
export function flowEventProblems(dump: PartitionDump): string[] {
  const standings = new Map<string, Standing>()
  const problems: string[] = []
  for (const event of dump.events) {
    if (!isOfFlow(event)) continue
    const problem = follow(standings, event)
    if (problem !== undefined)
      problems.push(`event ${event.sequence} (${event.type}) of ${event.executionId}: ${problem}`)
  }
  for (const record of dump.records) {
    if (record.type !== 'flow') continue
    const told = standings.get(record.id)
    // Only its id is kept: by the log it is purged.
    const found = record.removedAt === undefined ? standingOf(record) : undefined
    if (told !== found) problems.push(`the log leads ${record.id} to ${told}, but it stands at ${found}`)
    standings.delete(record.id)
  }
  for (const id of standings.keys()) problems.push(`the log has events of ${id}, which does not exist`)
  return problems
}

function standingOf({ state }: Flow): Standing {
  return state.phase === 'ended' || state.phase === 'cancelled' ? state.phase : 'live'
}

/** Applies one event to one flow's life. Returns what is wrong with it, if anything. */
function follow(standings: Map<string, Standing>, { type, executionId }: StoredEvent): string | undefined {
  const from = standings.get(executionId)
  if (type === 'flow_created') {
    standings.set(executionId, 'live')
    return from === undefined ? undefined : 'it exists already'
  }
  if (from === undefined) return 'it does not exist'
  switch (type) {
    case 'flow_sealed':
      return from === 'live' ? undefined : `it was ${from}`
    case 'flow_ended':
      standings.set(executionId, 'ended')
      return from === 'live' ? undefined : `it was ${from}`
    case 'flow_cancelled':
      standings.set(executionId, 'cancelled')
      return from === 'live' ? undefined : `it was ${from}`
    case 'flow_reopened':
      standings.set(executionId, 'live')
      return from === 'ended' ? undefined : `it was ${from}`
    case 'flow_purged':
      standings.delete(executionId)
      return from === 'live' ? 'it still lived' : undefined
    case 'follow_up_started':
      standings.set(executionId, 'live')
      return from === 'live' ? 'it had not ended' : undefined
    case 'follow_up_set':
    case 'follow_up_dropped':
    case 'tags_set':
      return undefined
    default:
      return 'it belongs to no flow'
  }
}
