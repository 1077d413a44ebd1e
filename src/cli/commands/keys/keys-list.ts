import { Command } from 'commander'
import { isWithin, readKeyFile } from '../../../client/index.ts'
import type { KeyRing } from '../../../client/index.ts'
import { examples } from '../../args/help.ts'
import { KEYS_FILE_FLAG, KEYS_FILE_TEXT } from '../../session/keys-place.ts'
import type { KeysFlags } from '../../session/keys-place.ts'
import type { Output } from '../../text/output.ts'
import type { Shell } from '../../session/shell.ts'
import { table } from '../../text/table.ts'
import { timeText } from '../../text/time-text.ts'

export function keysListCommand(shell: Shell): Command {
  return new Command('list')
    .description('the keys: which one signs, and how long the others stay valid; never a secret')
    .option(KEYS_FILE_FLAG, KEYS_FILE_TEXT)
    .addHelpText('after', examples(['keys list', 'keys list --json']))
    .action(async (flags: KeysFlags, command: Command) => {
      const { file, output } = shell.keysPlace(command, flags)
      const { ring } = readKeyFile(file)
      const now = shell.runtime.now()
      const keys = ring.keys.map(({ id, secret, createdAt, notAfter }) => ({
        id,
        isCurrent: id === ring.current.id,
        createdAt,
        notAfter,
        fingerprint: secret.fingerprint,
      }))
      await output.answer({ file, keys, retired: ring.retired }, () => keysText(ring, now, output))
    })
}

function keysText(ring: KeyRing, now: number, output: Output): string {
  const header = ['KEY', 'CREATED', 'GOOD UNTIL', 'FINGERPRINT'].map((name) => output.style('dim', name))
  const rows = ring.keys.map(({ id, secret, createdAt, notAfter }) => [
    id,
    timeText(createdAt, now),
    notAfter === undefined ? 'it is the one that signs' : endText(notAfter, now),
    secret.fingerprint,
  ])
  const lines = [table([header, ...rows])]
  if (ring.retired.length > 0) lines.push(output.style('dim', `Retired before: ${ring.retired.length}.`))
  return lines.join('\n')
}

function endText(notAfter: number, now: number): string {
  return isWithin(notAfter, now) ? timeText(notAfter, now) : `over since ${timeText(notAfter, now)}`
}
