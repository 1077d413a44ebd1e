import type { AuditCursor } from '../../kernel/index.ts'
import { RECONCILED_PER_SECOND, countCases, scanner } from '../runner/scanner.ts'
import type { Scanner } from '../runner/scanner.ts'

/** The most pages of members of one pass. The next pass continues at its cursor. */
const PAGES_PER_PASS = 200

/**
 * Recounts the members of every flow and compares with the counts of its record. Read-only: every operation that changes a
 * member keeps the counts exact. Expected to find nothing.
 */
export const flowProjector: Scanner<'flow_projector', AuditCursor> = scanner({
  name: 'flow_projector',
  isDivided: true,
  everyMs: 60_000,
  continues: 'next_cycle',
  stepsPerPass: PAGES_PER_PASS,
  examinedPerSecond: RECONCILED_PER_SECOND,
  scan: async (partition, { filter, from, log }) => {
    const page = await partition.run('auditFlows', { filter, cursor: from })
    for (const { flowId, what, recorded, counted } of page.drifts) {
      log.warn(
        { partition: partition.name, flowId, what, recorded, counted },
        'the member counts of a flow differ from its members',
      )
    }
    return { counts: countCases(page.drifts.map(({ what }) => what)), examined: page.examined, next: page.cursor }
  },
})
