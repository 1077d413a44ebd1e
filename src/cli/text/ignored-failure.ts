/** Failures of members that do not make their flow fail. */
import type { MemberView, PublicFlowState } from '../../kernel/index.ts'

/**
 * Whether the failure of a member does not count for the outcome of its flow: an edge ignores it, or the flow has completed,
 * because its outcome depends on other nodes.
 */
export function isIgnored({ execution }: MemberView, flowState: PublicFlowState): boolean {
  return execution.member?.mayFail === true || flowState === 'completed'
}
