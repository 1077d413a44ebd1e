import { accept } from '../../../client/index.ts'
import type { Calls } from '../../../client/index.ts'
import type { FlowId, MemberView, Position } from '../../../kernel/index.ts'

/** All members of a flow with what leads to each, page by page. A flow that changes meanwhile is seen as it was on the way. */
export async function readMembers(calls: Calls, flowId: FlowId): Promise<MemberView[]> {
  const members: MemberView[] = []
  let cursor: Position | undefined
  do {
    const page = accept(await calls.listFlowMembers(flowId, { edges: true, cursor }))
    members.push(...page.members)
    cursor = page.cursor
  } while (cursor !== undefined)
  return members
}
