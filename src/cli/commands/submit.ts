import { Command } from 'commander'
import { examples } from '../args/help.ts'
import { addSubmitOptions, prepare } from '../args/submit-flags.ts'
import type { Created, SubmitFlags } from '../args/submit-flags.ts'
import { Interruption } from '../process/interruption.ts'
import type { Session, Shell } from '../session/shell.ts'
import type { Output } from '../text/output.ts'
import { printableLines } from '../text/printable.ts'
import { valueForJson, valueText } from '../text/value-text.ts'

interface WaitFlags extends SubmitFlags {
  readonly wait?: boolean
}

export function submitCommand(shell: Shell): Command {
  return addSubmitOptions(
    new Command('submit').description('submit an execution of a task; it is stored when the command returns'),
  )
    .option('--wait', 'wait for the end and print the result')
    .addHelpText(
      'after',
      examples([
        `submit greet '{"name":"Ada"}'`,
        `submit report @input.json --id report:2026-01 --lane slow --attempts 5 --backoff exponential:1s:5m`,
        `submit sync '{"account":17}' --id sync:17 --if-exists after`,
        `submit index '{"document":17}' --debounce document:17,5s,1m`,
        `echo '{"name":"Ada"}' | flowfabric submit greet - --wait`,
      ]),
    )
    .action(async (taskName: string, argument: string | undefined, flags: WaitFlags, command: Command) => {
      const prepared = await prepare(shell.runtime, taskName, argument, flags)
      await shell.withFabric(command, { create: true }, async (session) => {
        const created = await prepared.submit(session.fabric)
        if (flags.wait === true) await waitForEnd(shell, session, created)
        else await answerCreated(session, created, flags.id)
      })
    })
}

async function answerCreated({ output }: Session, created: Created, key: string | undefined): Promise<void> {
  const { executionId: id, kind, state } = created
  await output.answer({ id, key, kind, state }, () => `${id} ${kind} (${state})`)
}

async function waitForEnd(shell: Shell, { fabric, output }: Session, created: Created): Promise<void> {
  const { executionId: id, kind } = created
  using interruption = new Interruption()
  output.remark(`${id} ${kind}. Waiting for its end; ctrl-c stops waiting, not the execution.`)
  try {
    const result = await fabric.execution(id).result({ signal: interruption.signal })
    await answerResult(output, { id, kind }, result)
  } catch (error) {
    if (interruption.exitCode === undefined) throw error
    shell.exitCode = interruption.exitCode
    output.remark(`The execution continues. To see its state: flowfabric show ${id}`)
  }
}

/** Prints the result of an execution that has completed. */
export async function answerResult(
  output: Output,
  head: { readonly id: string; readonly kind: string },
  result: unknown,
): Promise<void> {
  const document = { ...head, state: 'completed', result: valueForJson(result) }
  if (result === undefined) output.remark('It completed without a result.')
  if (output.isJson || result !== undefined) await output.answer(document, () => printableLines(valueText(result)))
}
