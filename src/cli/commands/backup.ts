import { Command } from 'commander'
import { examples } from '../args/help.ts'
import { printable } from '../text/printable.ts'
import type { Shell } from '../session/shell.ts'

export function backupCommand(shell: Shell): Command {
  return new Command('backup')
    .description('copy a SQLite store to a new file while programs use it; the copy is one snapshot, and checked')
    .argument('<file>', 'where the copy goes; it must not exist')
    .addHelpText('after', examples(['backup ./backups/monday.db', 'backup /mnt/safe/shop.db --store sqlite:./shop.db']))
    .action(async (file: string, _flags: object, command: Command) => {
      const { parsed, output } = shell.place(command, {})
      const { backupStore } = await import('../../stores/open/backup-store.ts')
      const backup = await backupStore(shell.runtime, parsed, file)
      await output.answer(backup, () => `${printable(backup.file)} written, ${backup.bytes} bytes`)
      output.remark('The file of signing keys is not part of the copy: keep it apart.')
    })
}
