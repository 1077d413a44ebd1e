import { Command } from 'commander'
import { summariseFlow, summariseMember, unwrap } from '../../../client/index.ts'
import type { FlowDescription } from '../../../client/index.ts'
import type { MemberView } from '../../../kernel/index.ts'
import { graphOf, nameOf } from '../../text/flow-levels.ts'
import { flowText } from '../../text/flow-text.ts'
import { graphText, isCollapsed } from '../../text/graph-text.ts'
import { examples } from '../../args/help.ts'
import type { Output } from '../../text/output.ts'
import { failedMembers, readMembers } from './members.ts'
import type { Session, Shell } from '../../session/shell.ts'

interface FlowShowFlags {
  readonly members?: boolean
}

export function flowShowCommand(shell: Shell): Command {
  return new Command('show')
    .description('show one flow: its state, its counts, and its graph with the state of every node')
    .argument('<id>', "the flow's id or key")
    .option('--members', 'show every member, also of a large graph; with --json, as a list')
    .addHelpText('after', examples(['flow show release:42', 'flow show release:42 --members --json']))
    .action(async (id: string, flags: FlowShowFlags, command: Command) => {
      await shell.withFabric(command, {}, (session) => showFlow(session, id, flags.members === true))
    })
}

/** Prints a flow and its graph. */
export async function showFlow({ fabric, output }: Session, id: string, isWhole: boolean): Promise<void> {
  const { view, at } = unwrap(await fabric.try.describeFlow(id))
  const description = { ...summariseFlow(view), at }
  if (output.isJson && !isWhole) {
    await output.answer(description, () => '')
    return
  }
  const members = await readMembers(fabric.try, view.flow.id)
  await output.answer(document(description, members), () => pageText(description, members, isWhole, output))
  if (isCollapsed(members, isWhole)) output.remark('The graph is collapsed: --members shows every member.')
}

function document(description: FlowDescription, members: readonly MemberView[]): unknown {
  const { levels, members: byId } = graphOf(members)
  const nodes = new Map([...byId.values()].map((view) => [view.execution.id, nameOf(view)]))
  return {
    ...description,
    members: levels.flatMap((views, level) =>
      views.map((view) => ({ ...summariseMember(view, nodes), level: level + 1 })),
    ),
  }
}

function pageText(
  description: FlowDescription,
  members: readonly MemberView[],
  isWhole: boolean,
  output: Output,
): string {
  const page = flowText(description, failedMembers(members, description.state), output)
  if (members.length === 0) return page
  return `${page}\n\n${graphText(members, { at: description.at, flowState: description.state, painter: output, isWhole })}`
}
