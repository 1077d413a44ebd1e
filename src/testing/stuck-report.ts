/** Error texts for an execution or a flow that does not reach the state that a test waits for: its state, and the reason. */
import type { Client, FlowHandle } from '../client/index.ts'

/** Maximum number of members that the text lists. */
const NAMED_MEMBER_COUNT = 5

export async function explainStuck(client: Client, id: string, text: string): Promise<string> {
  const { task } = await client.describe(id)
  return `${task} (${id}) is ${text} ${(await client.why(id)).text}`
}

/** Explains why the first incomplete members have not completed. */
export async function explainStuckFlow(client: Client, flow: FlowHandle, text: string): Promise<string> {
  const { name } = await flow.describe()
  const reasons: string[] = []
  for await (const member of flow.members()) {
    if (member.outcome === 'completed') continue
    reasons.push(`${member.node ?? member.id}: ${(await client.why(member.id)).text}`)
    if (reasons.length === NAMED_MEMBER_COUNT) break
  }
  return [`${name} (${flow.id}) is ${text}`, ...reasons].join('\n  ')
}
