import path from 'node:path'
import { Command } from 'commander'
import { KEYS_FILE_VARIABLE, KEY_GRACE_DEFAULT_MS, KeyRing, changeKeyFile, mintKey } from '../../../client/index.ts'
import { parseGiven } from '../../args/drop-undefined.ts'
import { examples } from '../../args/help.ts'
import { KEYS_FILE_FLAG, KEYS_FILE_TEXT } from '../../session/keys-place.ts'
import type { KeysFlags } from '../../session/keys-place.ts'
import { printable } from '../../text/printable.ts'
import type { Shell } from '../../session/shell.ts'
import { timeText } from '../../text/time-text.ts'
import { parseDurationFlag } from '../../args/flags.ts'

interface RotateFlags extends KeysFlags {
  readonly grace?: string
}

export function keysRotateCommand(shell: Shell): Command {
  return new Command('rotate')
    .description('create a new signing key; creates the file if it does not exist')
    .option('--grace <duration>', 'how long links of the previous key stay valid (default: 24h)')
    .option(KEYS_FILE_FLAG, KEYS_FILE_TEXT)
    .addHelpText('after', examples(['keys rotate', 'keys rotate --grace 7d --file /etc/shop/flowfabric.keys']))
    .action(async (flags: RotateFlags, command: Command) => {
      const graceMs = parseGiven(flags.grace, (text) => parseDurationFlag(text, '--grace')) ?? KEY_GRACE_DEFAULT_MS
      const { file, output } = shell.keysPlace(command, flags)
      const now = shell.runtime.now()
      let before: KeyRing | undefined
      const ring = await changeKeyFile(file, shell.runtime, (present) => {
        before = present
        return present === undefined ? KeyRing.begin(now) : present.rotate(mintKey(now), graceMs, now)
      })
      const { id } = ring.current
      const previous = before && { id: before.current.id, notAfter: now + graceMs }
      await output.answer({ file, id, previous }, () =>
        previous === undefined
          ? `${id} signs from now on, the first key in ${printable(file)}.`
          : `${id} signs from now on. Links of ${previous.id} stay valid until ${timeText(previous.notAfter, now)}.`,
      )
      if (previous === undefined) {
        output.remark(`Processes that make or check links need ${KEYS_FILE_VARIABLE}=${printable(path.resolve(file))}`)
      }
    })
}
