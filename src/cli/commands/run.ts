import { Command } from 'commander'
import type { SubscribeOptions } from '../../client/index.ts'
import { dropUndefined } from '../args/drop-undefined.ts'
import { examples } from '../args/help.ts'
import { addSubmitOptions, prepare } from '../args/submit-flags.ts'
import type { Created, SubmitFlags } from '../args/submit-flags.ts'
import { Interruption } from '../process/interruption.ts'
import type { Session, Shell } from '../session/shell.ts'
import { subscriptionText } from '../text/event-text.ts'
import { followEvents } from './follow-events.ts'
import { answerResult } from './submit.ts'

export function runCommand(shell: Shell): Command {
  return addSubmitOptions(
    new Command('run').description('submit an execution, print its events until it ends, and then its result'),
  )
    .addHelpText('after', examples([`run greet '{"name":"Ada"}'`, 'run report @input.json --id report:2026-01']))
    .action(async (taskName: string, argument: string | undefined, flags: SubmitFlags, command: Command) => {
      const prepared = await prepare(shell.runtime, taskName, argument, flags)
      await shell.withFabric(command, { create: true }, async (session) => {
        await follow(shell, session, await prepared.submit(session.fabric))
      })
    })
}

async function follow(shell: Shell, session: Session, created: Created): Promise<void> {
  const { fabric, output } = session
  const { executionId: id, kind } = created
  using interruption = new Interruption()
  output.remark(`${id} ${kind}. Ctrl-c stops watching, not the execution.`)
  const end = new AbortController()
  const signal = AbortSignal.any([interruption.signal, end.signal])
  const following = printEvents(session, { executionId: id, fromStart: true, signal })
  const outcome = await fabric
    .execution(id)
    .result({ signal: interruption.signal })
    .then(
      (result) => ({ isCompleted: true as const, result }),
      (error: unknown) => ({ isCompleted: false as const, error }),
    )
  end.abort()
  const cursor = await following
  if (interruption.exitCode !== undefined) {
    shell.exitCode = interruption.exitCode
    output.remark(`The execution continues. To see its state: flowfabric show ${id}`)
    return
  }
  // The end may be known before its events were read.
  await printEvents(session, {
    executionId: id,
    follow: false,
    ...(cursor === undefined ? { fromStart: true } : { cursor }),
    signal: interruption.signal,
  })
  if (!outcome.isCompleted) throw outcome.error
  await answerResult(output, { id, kind }, outcome.result)
}

async function printEvents(
  { fabric, output, namespace }: Session,
  options: SubscribeOptions & { readonly signal: AbortSignal },
): Promise<string | undefined> {
  return await followEvents(fabric, { ...options, ...dropUndefined({ namespace }) }, (item) =>
    output.answer(item, () => subscriptionText(item, output)),
  )
}
