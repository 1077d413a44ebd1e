/** Reads the members of a flow. */
import { show, storedNodeName, unwrap } from '../../../client/index.ts'
import type { Calls, Client } from '../../../client/index.ts'
import { graphOf } from '../../text/flow-levels.ts'
import { isIgnored } from '../../text/ignored-failure.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import type { ExecutionId, FlowId, MemberView, Position, PublicFlowState } from '../../../kernel/index.ts'

/** Reads all members of a flow with their upstreams, page by page. Not a snapshot: the flow may change meanwhile. */
export async function readMembers(calls: Calls, flowId: FlowId): Promise<MemberView[]> {
  const members: MemberView[] = []
  let cursor: Position | undefined
  do {
    const page = unwrap(await calls.listFlowMembers(flowId, { edges: true, cursor }))
    members.push(...page.members)
    cursor = page.cursor
  } while (cursor !== undefined)
  return members
}

/**
 * Returns the members that failed or expired, in the order of the graph: those that make the flow fail before those that it
 * ignores. Members that were skipped because of them are left out.
 */
export function failedMembers(members: readonly MemberView[], flowState: PublicFlowState): MemberView[] {
  const failed = [...graphOf(members).members.values()].filter(({ execution: { state } }) => {
    return state.phase === 'ended' && (state.outcome === 'failed' || state.outcome === 'expired')
  })
  return failed.sort((a, b) => Number(isIgnored(a, flowState)) - Number(isIgnored(b, flowState)))
}

/** Finds the execution of a node. A member that was added with its own id is searched for among all members. */
export async function findMember(client: Client, flowId: FlowId, node: string): Promise<ExecutionId> {
  const flow = client.flow(flowId)
  const { id } = flow.member(node)
  const { result } = await client.try.describe(id)
  if (result.kind !== 'refused') return id
  const stored = storedNodeName(node)
  for await (const member of flow.members()) if (member.node === stored) return member.id
  throw new EngineError('execution_not_found', { flowId, message: `The flow has no node ${show(node)}.` })
}
