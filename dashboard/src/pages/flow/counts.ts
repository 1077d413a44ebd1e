import type { FlowSummary } from '../../api/types.ts'

/** Members by their state. Superseded ones are among the cancelled and skipped. */
export function shareOf({ superseded: _, ...counts }: FlowSummary['counts']): Readonly<Record<string, number>> {
  return counts
}
