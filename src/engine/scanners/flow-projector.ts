import type { AuditCursor } from '../../kernel/index.ts'
import { countCases, scanner } from '../runner/scanner.ts'
import type { Scanner } from '../runner/scanner.ts'

/** Pages of members that one pass counts; the next pass goes on where this one stopped. */
const PAGES_PER_PASS = 200

/**
 * Counts the members of every flow anew and compares with what the flow says of itself. It changes nothing: a flow is kept
 * exact by whatever changes a member. Expected to find nothing.
 */
export const flowProjector: Scanner<'flow_projector', AuditCursor> = scanner({
  name: 'flow_projector',
  everyMs: 60_000,
  goesOn: 'next_cycle',
  stepsPerPass: PAGES_PER_PASS,
  scan: async (partition, { filter, from, log }) => {
    const page = await partition.run('auditFlows', { filter, cursor: from })
    for (const { flowId, what, recorded, counted } of page.drifts) {
      log.warn({ partition: partition.name, flowId, what, recorded, counted }, 'a flow does not count what it holds')
    }
    return { counts: countCases(page.drifts.map(({ what }) => what)), next: page.cursor }
  },
})
