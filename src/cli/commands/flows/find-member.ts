import { show } from '../../../client/index.ts'
import type { Client } from '../../../client/index.ts'
import type { ExecutionId, FlowId } from '../../../kernel/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'

/** The execution that is a node of the flow. One that was added with an id of its own is looked for among all members. */
export async function findMember(client: Client, flowId: FlowId, node: string): Promise<ExecutionId> {
  const flow = client.flow(flowId)
  const { id } = flow.member(node)
  const { result } = await client.try.describe(id)
  if (result.kind !== 'refused') return id
  for await (const member of flow.members()) if (member.node === node) return member.id
  throw new EngineError('execution_not_found', { flowId, message: `The flow has no node ${show(node)}.` })
}
