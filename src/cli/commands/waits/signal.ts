import { Command } from 'commander'
import { invalidInput } from '../../../client/index.ts'
import type { SignalReceipt } from '../../../client/index.ts'
import { EngineError } from '../../../kernel/engine-error.ts'
import { COMMAND_LINE } from '../../args/operator-identity.ts'
import { dropUndefined } from '../../args/drop-undefined.ts'
import { examples } from '../../args/help.ts'
import { readInput } from '../../args/input-argument.ts'
import { printable } from '../../text/printable.ts'
import { receiptText } from '../../text/receipt-text.ts'
import type { Session, Shell } from '../../session/shell.ts'
import { TOKEN_VARIABLE, readToken } from '../../args/token-argument.ts'

interface SignalFlags {
  readonly waitpoint?: string
  readonly by?: string
  readonly key?: string
  readonly token?: string | true
}

interface SentSignal extends Omit<SignalFlags, 'token'> {
  readonly id: string
  readonly name: string
  readonly value: unknown
  readonly token: string | undefined
}

export function signalCommand(shell: Shell): Command {
  return new Command('signal')
    .description('send a signal to an execution; buffers a signal that the execution does not wait for yet')
    .argument('<id>', "the execution's id or key")
    .argument('<name>', 'the name of the signal')
    .argument('[value]', 'the value of the signal: JSON, @file, or - for standard input')
    .option('--waitpoint <key>', 'send it to this waitpoint instead of the execution')
    .option('--by <name>', `the sender (default: "${COMMAND_LINE}")`)
    .option('--key <key>', 'an idempotency key; a signal that is sent again with it counts once')
    .option(
      '--token [token]',
      `send as the holder of this token; without a value, reads ${TOKEN_VARIABLE} or standard input`,
    )
    .addHelpText(
      'after',
      examples([
        `signal order:17 paid '{"amount":12}' --key evt_1`,
        `signal deploy:42 approve --waitpoint review --by ada`,
        `signal deploy:42 approve --token < token.txt`,
      ]),
    )
    .action(async (id: string, name: string, argument: string | undefined, flags: SignalFlags, command: Command) => {
      const sent = await sentSignal(id, name, argument, flags)
      await shell.withFabric(command, {}, async (session) => {
        const executionId = session.fabric.try.resolve(id)
        const receipt = await send(session, sent)
        await session.output.answer({ id: executionId, name, ...receipt }, () =>
          printable(receiptText(executionId, name, receipt)),
        )
      })
    })
}

/** Reads everything before the store is opened. */
async function sentSignal(
  id: string,
  name: string,
  argument: string | undefined,
  { token, ...flags }: SignalFlags,
): Promise<SentSignal> {
  if (token === undefined) return { ...flags, id, name, value: await readInput(argument, process.stdin), token }
  if (flags.by !== undefined || flags.waitpoint !== undefined) {
    throw invalidInput('--token', '--token determines the sender and the waitpoint: leave out --by and --waitpoint.')
  }
  if (argument === '-') {
    throw invalidInput(
      '--token',
      `The value is read from standard input: put the token into ${TOKEN_VARIABLE}, or the value into a file.`,
    )
  }
  const value = await readInput(argument, process.stdin)
  return { ...flags, id, name, value, token: await readToken(token, process.env, process.stdin) }
}

async function send({ fabric }: Session, sent: SentSignal): Promise<SignalReceipt> {
  const { id, name, value, waitpoint, by = COMMAND_LINE, key, token } = sent
  const options = dropUndefined({ key })
  if (token !== undefined) {
    // A token of another execution would send the signal there.
    if (fabric.tokens.verify(token).executionId !== fabric.try.resolve(id)) throw new EngineError('invalid_token')
    return await fabric.answer(token, name, value, options)
  }
  if (waitpoint === undefined) return await fabric.signal(id, name, value, { by, ...options })
  return await fabric.signal(id, name, value, { waitpoint, by, as: 'operator', ...options })
}
