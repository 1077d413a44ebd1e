import { Command } from 'commander'
import { APPROVE, REJECT, invalidInput } from '../../../client/index.ts'
import { loginName } from '../../args/operator-identity.ts'
import { dropUndefined } from '../../args/drop-undefined.ts'
import { exitCodes } from '../../process/exit-codes.ts'
import { examples } from '../../args/help.ts'
import { readInput } from '../../args/input-argument.ts'
import { printable } from '../../text/printable.ts'
import { receiptText } from '../../text/receipt-text.ts'
import type { Shell } from '../../session/shell.ts'

interface ApproveFlags {
  readonly reject?: boolean
  readonly by?: string
  readonly note?: string
  readonly key?: string
}

export function approveCommand(shell: Shell): Command {
  return new Command('approve')
    .description('vote on an approval that an execution waits for; exits with 1 if the vote does not count')
    .argument('<id>', "the execution's id or key")
    .argument('<waitpoint>', 'the key of the waitpoint: the name of the wait, unless the handler set another')
    .argument('[answer]', 'a value to send with the vote: JSON, @file, or - for standard input')
    .option('--reject', 'vote against it')
    .option('--by <name>', 'who votes (default: your login name)')
    .option('--note <text>', 'a remark, sent as { "note": … }')
    .option('--key <key>', 'an idempotency key; a vote that is sent again with it counts once')
    .addHelpText(
      'after',
      examples(['approve deploy:42 review --by ada', 'approve deploy:42 review --reject --note "not on a Friday"']),
    )
    .action(
      async (id: string, waitpoint: string, argument: string | undefined, flags: ApproveFlags, command: Command) => {
        const value = await answerOf(argument, flags)
        const name = flags.reject === true ? REJECT : APPROVE
        const by = flags.by ?? loginName()
        await shell.withFabric(command, {}, async ({ fabric, output }) => {
          const options = { waitpoint, by, as: 'operator', ...dropUndefined({ key: flags.key }) } as const
          const receipt = await fabric.signal(id, name, value, options)
          const executionId = fabric.try.resolve(id)
          if (receipt.effect === 'not_awaited') shell.exitCode = exitCodes.failed
          await output.answer({ id: executionId, waitpoint, name, by, ...receipt }, () =>
            printable(receiptText(executionId, `${name} by ${by}`, receipt)),
          )
        })
      },
    )
}

async function answerOf(argument: string | undefined, { note }: ApproveFlags): Promise<unknown> {
  if (note === undefined) return await readInput(argument, process.stdin)
  if (argument === undefined) return { note }
  throw invalidInput('--note', 'Give either an answer or --note; the answer can contain the note.')
}
