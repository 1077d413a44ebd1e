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
    .description('the journal of an execution: its steps and waits, and the signals it received')
    .argument('<id>', "the execution's id or key")
    .option('--values', 'also show their values, which may be confidential')
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
        else output.remark('Its journal is empty.')
      })
    })
}

/** An execution has ten thousand of each at most. */
async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}
