/** Commands for executions that were given the key or the id of a flow. */
import { invalidInput } from '../../../client/index.ts'
import { hasFlowIdForm, isExecutionId } from '../../../client/transport/ids.ts'
import type { FlowId, MemberView, PublicFlowState } from '../../../kernel/index.ts'
import type { Session } from '../../session/shell.ts'
import { nameOf } from '../../text/flow-levels.ts'
import { errorOf } from '../../text/flow-text.ts'
import { isIgnored } from '../../text/ignored-failure.ts'
import { printable } from '../../text/printable.ts'
import { failedMembers, readMembers } from './members.ts'

/** The most members that `why` of a flow explains. */
const EXPLAINED_MAX = 5
/** The most commands that `replay` of a flow names. */
const COMMAND_MAX = 5

/**
 * Returns the flow that an id or a key names, and prints that it is one. Undefined if the text names an execution, which comes
 * first if both have the key, or nothing.
 */
export async function flowInstead(session: Session, idOrKey: string): Promise<FlowId | undefined> {
  const flowId = await findFlow(session, idOrKey)
  if (flowId !== undefined) session.output.remark(`${printable(idOrKey)} is a flow.`)
  return flowId
}

async function findFlow({ fabric }: Session, idOrKey: string): Promise<FlowId | undefined> {
  const calls = fabric.try
  if (hasFlowIdForm(idOrKey)) return calls.resolveFlow(idOrKey)
  if (isExecutionId(idOrKey)) return undefined
  const { result } = await calls.describe(idOrKey)
  if (result.kind !== 'refused') return undefined
  const flow = await calls.describeFlow(idOrKey)
  return flow.kind === 'refused' ? undefined : flow.view.flow.id
}

/** Prints what a flow waits for, or why it failed: the members that decide about it. */
export async function explainFlow({ fabric, output }: Session, flowId: FlowId): Promise<void> {
  const { state, memberCount, liveCount } = await fabric.describeFlow(flowId)
  const members = await readMembers(fabric.try, flowId)
  const failed = failedMembers(members, state).map((view) => ({ ...placeOf(view), text: failureText(view, state) }))
  const deciding = liveCount === 0 ? failed : [...failed, ...(await liveMembers(fabric, members))]
  const shown = deciding.slice(0, EXPLAINED_MAX)
  const text = [
    `The flow is ${state}: ${memberCount - liveCount} of ${memberCount} members have ended.`,
    ...shown.map((member) => `${printable(member.node)} (${member.id}): ${printable(member.text)}`),
    ...(deciding.length > shown.length ? [`and ${deciding.length - shown.length} more members`] : []),
  ].join('\n')
  await output.answer({ id: flowId, state, members: shown, text }, () => text)
}

/** Members that could run or run. Blocked ones only wait for these. */
async function liveMembers(fabric: Session['fabric'], members: readonly MemberView[]) {
  const live = members.filter(({ execution: { state } }) => state.phase !== 'ended' && state.phase !== 'blocked')
  return await Promise.all(
    live
      .slice(0, EXPLAINED_MAX)
      .map(async (view) => ({ ...placeOf(view), text: (await fabric.why(view.execution.id)).text })),
  )
}

function failureText(view: MemberView, flowState: PublicFlowState): string {
  return `${errorOf(view.execution)}${isIgnored(view, flowState) ? ' (ignored by the flow)' : ''}`
}

function placeOf(view: MemberView): { readonly node: string; readonly id: string } {
  return { node: nameOf(view), id: view.execution.id }
}

/** A flow is replayed from a node, so this names the commands for the nodes that failed. */
export async function refuseToReplayFlow({ fabric }: Session, idOrKey: string, flowId: FlowId): Promise<never> {
  const { state } = await fabric.describeFlow(flowId)
  const failed = failedMembers(await readMembers(fabric.try, flowId), state)
  const commands = failed.slice(0, COMMAND_MAX).map((view) => `flowfabric flow replay ${idOrKey} ${nameOf(view)}`)
  const advice = commands.length === 0 ? 'None of its nodes has failed.' : `Run ${commands.join(', or ')}.`
  throw invalidInput('id', `${idOrKey} is a flow, which is replayed from a node. ${advice}`)
}
