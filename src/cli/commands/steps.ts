import { Command } from 'commander'
import { examples } from '../args/help.ts'
import type { Shell } from '../session/shell.ts'
import { recordedText } from '../text/steps-text.ts'
import { valueForJson } from '../text/value-text.ts'

interface StepsFlags {
  readonly values?: boolean
}

export function stepsCommand(shell: Shell): Command {
  return new Command('steps')
    .description('what an execution has recorded: its steps and waits, and the signals it was sent')
    .argument('<id>', "the execution's id or key")
    .option('--values', 'their values too; they may hold what not everybody should see')
    .addHelpText('after', examples(['steps deploy:42', 'steps deploy:42 --values --json | jq .steps[].value']))
    .action(async (id: string, flags: StepsFlags, command: Command) => {
      const values = flags.values === true
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const recorded = {
          steps: await all(fabric.steps(id, { values })),
          signals: await all(fabric.signals(id, { values })),
        }
        const count = recorded.steps.length + recorded.signals.length
        const document = {
          id: fabric.try.resolve(id),
          steps: recorded.steps.map((step) => ({ ...step, value: valueForJson(step.value) })),
          signals: recorded.signals.map((signal) => ({ ...signal, value: valueForJson(signal.value) })),
        }
        if (output.isJson || count > 0) await output.answer(document, () => recordedText(recorded, values, output))
        else output.remark('It has recorded nothing.')
      })
    })
}

/** An execution has ten thousand of each at most. */
async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}
